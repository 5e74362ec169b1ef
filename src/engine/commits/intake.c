// Intake: three queues and their counts.
//
// The counts are what the share of a batch is computed from, so they are kept and not counted
// anew. [intake-1] and [intake-2] are in intake.h.
//
// Not here: who gets how much of a batch (coordinator/gather.c).
#include "engine/commits/intake.h"
#include "base/assert.h"

void intake_init(Intake *self) {
    *self = (Intake){0};
    list_init(&self->requests);
    list_init(&self->reports);
    list_init(&self->results);
}

void intake_done(Intake *self) {
    ASSERT(!intake_is_waited_for(self));
    for (Execution *execution; (execution = intake_take_result(self)) != NULL;) {
        ASSERT(execution->report == NULL);
        if (execution->cause != NULL) execution_free(execution->cause); // they wait together
        execution_free(execution);
    }
}

static void add(List *queue, List *node, IntakeEnd end) {
    ASSERT(list_is_empty(node)); // nothing waits twice
    list_append(end == INTAKE_BACK ? queue : queue->next, node);
}

static List *take(List *queue, size_t *count) {
    List *node = list_first(queue);
    ASSERT((node == NULL) == (*count == 0));
    if (node == NULL) return NULL;
    list_remove(node);
    (*count)--;
    return node;
}

static bool is_report(OpKind kind) {
    return kind == OP_COMPLETE_TASK || kind == OP_FAIL_TASK || kind == OP_HEARTBEAT_TASK ||
           kind == OP_RELEASE_TASK;
}

void intake_add_request(Intake *self, Request *request, IntakeEnd end) {
    bool is_of_worker = is_report(request->op.kind); // [intake-2]
    add(is_of_worker ? &self->reports : &self->requests, &request->link, end);
    if (is_of_worker) self->report_count++;
    else self->request_count++;
}

Request *intake_take_request(Intake *self) {
    List *node = take(&self->requests, &self->request_count);
    return node != NULL ? container_of(node, Request, link) : NULL;
}

Request *intake_take_report(Intake *self) {
    List *node = take(&self->reports, &self->report_count);
    return node != NULL ? container_of(node, Request, link) : NULL;
}

Request *intake_take_either(Intake *self) {
    Request *request = intake_take_request(self);
    return request != NULL ? request : intake_take_report(self);
}

void intake_add_result(Intake *self, Execution *execution, IntakeEnd end) {
    add(&self->results, &execution->link, end);
    self->result_count += intake_places(execution);
}

static Execution *take_result(Intake *self, Execution *execution) {
    list_remove(&execution->link);
    self->result_count -= intake_places(execution);
    return execution;
}

Execution *intake_take_result(Intake *self) {
    List *node = list_first(&self->results);
    ASSERT((node == NULL) == (self->result_count == 0));
    return node != NULL ? take_result(self, container_of(node, Execution, link)) : NULL;
}

Execution *intake_take_foreseen_report(Intake *self) {
    LIST_EACH (node, &self->results) {
        Execution *execution = container_of(node, Execution, link);
        if (execution->report != NULL) return take_result(self, execution);
    }
    return NULL;
}
