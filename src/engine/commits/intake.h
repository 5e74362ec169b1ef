// Intake: what waits for a place in a batch: requests of callers, reports of workers about their
// tasks, and results of executions.
//
//   [intake-1] Each is a queue: whoever comes first goes first. What a failed commit gives back
//        goes to the front again, in its order.
//   [intake-2] Reports have a queue of their own: workers bring hundreds at a time, and a caller
//        who wants one thing must not wait for all of them.
#pragma once
#include "engine/world/execution.h"
#include "engine/world/request.h"

typedef enum IntakeEnd { INTAKE_FRONT, INTAKE_BACK } IntakeEnd;

typedef struct Intake {
    List requests;
    size_t request_count;
    List reports; // requests, too
    size_t report_count;
    List results;        // Executions whose output is to be committed
    size_t result_count; // places they need in a batch
} Intake;

void intake_init(Intake *self);
void intake_done(Intake *self); // no request is left; results are dropped
// Also a report: the operation says what it is.
void intake_add_request(Intake *self, Request *request, IntakeEnd end);
Request *intake_take_request(Intake *self); // NULL = there is none
Request *intake_take_report(Intake *self);  // NULL = there is none
Request *intake_take_either(Intake *self);  // NULL = there is neither
// How many operations it takes to commit it: a turn that was foreseen brings its cause along.
static inline size_t intake_places(const Execution *execution) {
    return execution->foreseen_seq != 0 ? 2 : 1;
}
void intake_add_result(Intake *self, Execution *execution, IntakeEnd end);
Execution *intake_take_result(Intake *self); // NULL = there is none
// The first one that was foreseen from a worker's report; NULL = there is none.
Execution *intake_take_foreseen_report(Intake *self);
// Somebody outside waits for an answer.
static inline bool intake_is_waited_for(const Intake *self) {
    return self->request_count > 0 || self->report_count > 0;
}
static inline bool intake_is_empty(const Intake *self) {
    return !intake_is_waited_for(self) && self->result_count == 0;
}
