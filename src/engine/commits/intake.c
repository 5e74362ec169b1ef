// Intake: two queues and their counts.
//
// The counts are what the share of a batch is computed from, so they are kept and not counted
// anew. [I1] is in intake.h.
//
// Not here: who gets how much of a batch (coordinator/gather.c).
#include "engine/commits/intake.h"
#include "base/assert.h"

void intake_init(Intake *self) {
    *self = (Intake){0};
    list_init(&self->requests);
    list_init(&self->results);
}

void intake_done(Intake *self) {
    ASSERT(self->request_count == 0);
    for (Execution *execution; (execution = intake_take_result(self)) != NULL;)
        execution_free(execution);
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

void intake_add_request(Intake *self, Request *request, IntakeEnd end) {
    add(&self->requests, &request->link, end);
    self->request_count++;
}

Request *intake_take_request(Intake *self) {
    List *node = take(&self->requests, &self->request_count);
    return node != NULL ? container_of(node, Request, link) : NULL;
}

void intake_add_result(Intake *self, Execution *execution, IntakeEnd end) {
    add(&self->results, &execution->link, end);
    self->result_count++;
}

Execution *intake_take_result(Intake *self) {
    List *node = take(&self->results, &self->result_count);
    return node != NULL ? container_of(node, Execution, link) : NULL;
}
