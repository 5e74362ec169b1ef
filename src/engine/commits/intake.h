// Intake: what waits for a place in a batch: requests from outside, and results of executions.
//
//   [I1] Both are queues: whoever comes first goes first. What a failed commit gives back goes to
//        the front again, in its order.
#pragma once
#include "engine/world/execution.h"
#include "engine/world/request.h"

typedef enum IntakeEnd { INTAKE_FRONT, INTAKE_BACK } IntakeEnd;

typedef struct Intake {
    List requests;
    size_t request_count;
    List results; // Executions whose output is to be committed
    size_t result_count;
} Intake;

void intake_init(Intake *self);
void intake_done(Intake *self); // no request is left; results are dropped
void intake_add_request(Intake *self, Request *request, IntakeEnd end);
Request *intake_take_request(Intake *self); // NULL = there is none
void intake_add_result(Intake *self, Execution *execution, IntakeEnd end);
Execution *intake_take_result(Intake *self); // NULL = there is none
static inline bool intake_is_empty(const Intake *self) {
    return self->request_count == 0 && self->result_count == 0;
}
