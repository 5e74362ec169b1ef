// Waits: what happens when a run parks, and when something arrives for a parked run.
//
// The store is the one place where "is it there already?" and "wake me when it comes" are decided
// together, in one transaction; so nothing can slip between the two.
//   [waits-wait-1] A wait is resolved here only: wait_check when the run parks, wait_deliver when
//        it is parked and something arrives. Whoever brings something calls one function of
//        waits.h.
//   [waits-wait-2] Only what resolves a wait is consumed; what lost a race stays for later. So of a
//        set that is waited for item by item at most one event or signal is taken at a time, and
//        only when it was the first of all to settle.
//   [waits-wait-3] WAIT_FIRST takes what settled first in time: by the moment it settled, then by
//        the order of arrival, then by the place in the set. Things that arrived through the
//        sequence of keys (events, signals) come after others of the same millisecond.
//   [waits-wait-4] A request to cancel is delivered once, to the first item, before anything is
//        consumed.
//   [waits-wait-5] What is waited for but no longer exists resolves as an error instead of for
//        ever.
//   [waits-wait-6] A task with an idempotency key may be waited for by runs that did not queue it:
//        their waits have WaiterRows, as those for events have, and its end wakes all of them.
//   [waits-wait-7] Items of a group that settle quietly are logged and wake nobody
//        (waits/groups.c).
//   [waits-wait-8] The journal of code is a line: its items have the same position, that of the
//        first that is delivered, and those delivered with it take the places after it.
//
// Not here: the run's row (runs/runs.c), events' tables (events/events.c).
#include "base/assert.h"
#include "store/kernel/events/events.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/tasks/embedded.h"
#include "store/kernel/waits/waits.h"
#include <stdlib.h>

static const Str ERROR_CHILD_CANCELLED =
    STR("{\"type\":\"CancelledError\",\"message\":\"the child run was cancelled\"}");
static const Str ERROR_CHILD_GONE =
    STR("{\"type\":\"NotFoundError\",\"message\":\"the child run no longer exists\"}");
static const Str ERROR_TASK_CANCELLED =
    STR("{\"type\":\"CancelledError\",\"message\":\"the task was cancelled\"}");
static const Str ERROR_TASK_GONE =
    STR("{\"type\":\"NotFoundError\",\"message\":\"the task no longer exists\"}");

typedef struct Settled { // an item that is satisfied
    Delivery delivery;
    int64_t at_ms;
    int64_t event_key; // EVENT, SIGNAL: what would be consumed
    EventRow event;
    TopicRow topic; // EVENT
    size_t place;
} Settled;

// ---- is it there already? ----

static Delivery child_delivery(const RunRow *child, Str result) {
    ASSERT(run_state_is_terminal(child->state));
    Delivery delivery = {.outcome = OUTCOME_ERROR, .data = result, .name = child->workflow};
    if (child->state == RUN_CANCELLED) delivery.data = ERROR_CHILD_CANCELLED;
    if (child->state == RUN_COMPLETED) delivery.outcome = OUTCOME_OK;
    return delivery;
}

static void task_delivery(const TaskRow *task, Delivery *ret_delivery) {
    ASSERT(task->state > TASK_LEASED);
    *ret_delivery = (Delivery){.outcome = OUTCOME_ERROR, .name = task->name};
    switch (task->state) {
    case TASK_COMPLETED:
        ret_delivery->outcome = OUTCOME_OK;
        ret_delivery->data = task->result;
        ret_delivery->attempt = task->attempt;
        return;
    case TASK_FAILED:
        ret_delivery->data = task->error;
        ret_delivery->attempt = task->attempt;
        return;
    default: ret_delivery->data = ERROR_TASK_CANCELLED;
    }
}

static Status look_child(Kernel *kernel, const WaitItem *item, Settled *settled, bool *ret_is_it) {
    Run child;
    Status status = run_load(kernel, item->target, &child);
    *ret_is_it = true;
    if (status == ERR_NOT_FOUND) { // [waits-wait-5]
        settled->delivery = (Delivery){.outcome = OUTCOME_ERROR, .data = ERROR_CHILD_GONE};
        return OK;
    }
    TRY(status);
    *ret_is_it = run_state_is_terminal(child.row.state);
    if (!*ret_is_it) return OK;
    settled->at_ms = child.row.finished_at_ms;
    LogRow wanted = {.run = child.row.key, .seq = child.row.result_seq}, entry;
    status = kernel_get(kernel, TABLE_LOG, &wanted, &entry);
    if (status == ERR_NOT_FOUND) { // being purged
        settled->delivery = (Delivery){.outcome = OUTCOME_ERROR, .data = ERROR_CHILD_GONE};
        return OK;
    }
    TRY(status);
    settled->delivery = child_delivery(&child.row, entry.data);
    return OK;
}

static Status look_task(Kernel *kernel, const WaitItem *item, Settled *settled, bool *ret_is_it) {
    *ret_is_it = false;
    if (item->target > kernel->fresh_after) return OK; // just queued: nobody can have done it yet
    TaskRow wanted = {.key = item->target}, task;
    Status status = kernel_get(kernel, TABLE_TASKS, &wanted, &task);
    *ret_is_it = true;
    if (status == ERR_NOT_FOUND) { // [waits-wait-5]
        settled->delivery = (Delivery){.outcome = OUTCOME_ERROR, .data = ERROR_TASK_GONE};
        return OK;
    }
    TRY(status);
    *ret_is_it = task.state >= TASK_COMPLETED;
    if (!*ret_is_it) return OK;
    settled->at_ms = task.finished_at_ms;
    task_delivery(&task, &settled->delivery);
    return OK;
}

static void settle_event(Settled *settled, const EventRow *event) {
    settled->event = *event;
    settled->event_key = event->key;
    settled->at_ms = event->created_at_ms;
    settled->delivery = (Delivery){.outcome = OUTCOME_OK, .data = event->payload};
}

static Status look_signal(Kernel *kernel, Run *run, const WaitItem *item, Settled *settled,
                          bool *ret_is_it) {
    *ret_is_it = false;
    int64_t after = 0;
    while (run->facts.may_have & MAY_HAVE_SIGNALS) {
        EventRow wanted = {.run = run->row.key}, *rows = NULL;
        size_t count = 0;
        Scan scan = scan_of(TABLE_EVENTS, EVENTS_BY_RUN, &wanted, PAGE_ROWS);
        scan.after_key = after;
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            after = rows[i].key;
            if (!str_equal(rows[i].name, item->name)) continue;
            settle_event(settled, &rows[i]);
            *ret_is_it = true;
            return OK;
        }
        if (count == 0 && after == 0) { // none at all: remembered, so the next look is free
            run->facts.signal_count = 0;
            run->facts.has_signal_count = true;
            run->facts.may_have &= ~(uint32_t)MAY_HAVE_SIGNALS;
            run_keep_facts(kernel, run);
        }
        if (count < PAGE_ROWS) return OK;
    }
    return OK;
}

static Status look_event(Kernel *kernel, Run *run, const WaitItem *item, Settled *settled,
                         bool *ret_is_it) {
    *ret_is_it = false;
    bool is_stored;
    TRY(topic_load(kernel, item->name, &settled->topic, &is_stored));
    if (settled->topic.pending_count == 0) return OK;
    int64_t after = 0;
    if (settled->topic.consume == CONSUME_ALL) TRY(cursor_get(kernel, run, item->name, &after));
    for (;;) {
        EventRow wanted = {.topic = item->name}, *rows = NULL;
        size_t count = 0;
        Scan scan = scan_of(TABLE_EVENTS, EVENTS_BY_TOPIC, &wanted, PAGE_ROWS);
        scan.after_key = after;
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            after = rows[i].key;
            if (!event_is_visible(&settled->topic, &rows[i], &run->row, kernel_now(kernel))) {
                continue;
            }
            if (!event_matches(kernel, item, rows[i].payload)) continue;
            settle_event(settled, &rows[i]);
            *ret_is_it = true;
            return OK;
        }
        if (count < PAGE_ROWS) return OK;
    }
}

static Status item_look(Kernel *kernel, Run *run, const WaitItem *item, Settled *settled,
                        bool *ret_is_it) {
    *ret_is_it = false;
    bool is_due = item->deadline_at_ms != 0 && item->deadline_at_ms <= kernel_now(kernel);
    switch ((WaitKind)item->kind) {
    case WAIT_EVENT: TRY(look_event(kernel, run, item, settled, ret_is_it)); break;
    case WAIT_SIGNAL: TRY(look_signal(kernel, run, item, settled, ret_is_it)); break;
    case WAIT_CHILD: TRY(look_child(kernel, item, settled, ret_is_it)); break;
    case WAIT_TASK: TRY(look_task(kernel, item, settled, ret_is_it)); break;
    case WAIT_TIMER:
    case WAIT_RETRY:
        if (!is_due) return OK;
        settled->delivery = (Delivery){.outcome = OUTCOME_OK};
        settled->at_ms = item->deadline_at_ms;
        *ret_is_it = true;
        return OK;
    case WAIT_KIND_COUNT: UNREACHABLE();
    }
    if (!*ret_is_it && is_due) {
        settled->delivery = (Delivery){.outcome = OUTCOME_TIMEOUT};
        settled->at_ms = item->deadline_at_ms;
        settled->event_key = 0;
        *ret_is_it = true;
    }
    return OK;
}

Status wait_is_settled(Kernel *kernel, Run *run, const WaitItem *item, bool *ret_is_it) {
    Settled settled = {0};
    return item_look(kernel, run, item, &settled, ret_is_it);
}

// ---- taking it ----

static Status settled_consume(Kernel *kernel, Run *run, const Settled *settled) {
    if (settled->event_key == 0) return OK;
    if (settled->delivery.item->kind == WAIT_SIGNAL) {
        return signal_remove(kernel, run, &settled->event);
    }
    if (settled->topic.consume == CONSUME_ALL) {
        TRY(event_note_taken(kernel, &settled->event));
        return cursor_set(kernel, run, settled->event.topic, settled->event_key);
    }
    return event_remove(kernel, &settled->event);
}

static int settled_compare(const void *left, const void *right) { // [waits-wait-3]
    const Settled *a = left, *b = right;
    if (a->at_ms != b->at_ms) return a->at_ms < b->at_ms ? -1 : 1;
    if (a->event_key != b->event_key) return a->event_key < b->event_key ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

// A script finds what was delivered by its slot; a C workflow that is replayed knows it by the id.
static Str delivery_name(Kernel *kernel, const Run *run, const Delivery *delivery) {
    if (run->row.kind != RUN_FLOW || str_is_null(delivery->name)) return delivery->item->name;
    return arena_printf(&kernel->scratch, "%.*s\n%.*s", STR_ARG(delivery->name),
                        STR_ARG(delivery->item->name));
}

// Which of its name it is: the item says it as of the first that is delivered.
static int64_t iteration_after(const Resolved *earlier, const WaitItem *item) {
    for (size_t i = earlier->count; i-- > 0;)
        if (str_equal(earlier->rows[i].name, item->name)) return earlier->rows[i].iteration + 1;
    return item->iteration;
}

// Writes the entry; the copy that is answered lives in the batch's arena. What is delivered
// together to a run whose journal is a line stands there in a row. [waits-wait-8]
static Status delivery_log(Kernel *kernel, Run *run, const Delivery *delivery,
                           const Resolved *earlier, LogRow *ret_row) {
    const WaitItem *item = delivery->item;
    bool is_line = run->row.kind == RUN_CODE;
    ASSERT(item != NULL && delivery->outcome < OUTCOME_COUNT);
    LogRow entry = {.kind = LOG_WAIT,
                    .position = item->position + (is_line ? (int64_t)earlier->count : 0),
                    .iteration = is_line ? iteration_after(earlier, item) : item->iteration,
                    .outcome = delivery->outcome,
                    .slot = item->slot,
                    .name = delivery_name(kernel, run, delivery),
                    .attempt = delivery->attempt,
                    .data = delivery->data};
    TRY(run_log(kernel, run, &entry));
    entry.name = kernel_answer(kernel, entry.name);
    entry.data = kernel_answer(kernel, entry.data);
    *ret_row = entry;
    return OK;
}

static Status log_one(Kernel *kernel, Run *run, const Delivery *delivery, Resolved *resolved) {
    resolved->rows = ARENA_NEW(kernel->batch->arena, LogRow);
    TRY(delivery_log(kernel, run, delivery, resolved, &resolved->rows[0]));
    resolved->count = 1;
    return OK;
}

static Status check_first(Kernel *kernel, Run *run, const WaitSet *set, Resolved *resolved) {
    Settled best = {0};
    bool has_best = false;
    for (size_t i = 0; i < set->count; i++) {
        Settled settled = {.place = i};
        bool is_it;
        TRY(item_look(kernel, run, &set->items[i], &settled, &is_it));
        settled.delivery.item = &set->items[i];
        if (!is_it || (has_best && settled_compare(&best, &settled) <= 0)) continue;
        best = settled;
        has_best = true;
    }
    if (!has_best) return OK;
    TRY(settled_consume(kernel, run, &best)); // [waits-wait-2]
    return log_one(kernel, run, &best.delivery, resolved);
}

// An event or signal is taken only when nothing settled before it: what comes first may end the
// race that it was waited for in, and then it must stay for a later wait. [waits-wait-2]
static size_t keep_deliverable(Settled *all, size_t count) {
    size_t kept = 1;
    for (size_t i = 1; i < count; i++)
        if (all[i].event_key == 0) all[kept++] = all[i];
    return kept;
}

static bool was_delivered(const Resolved *earlier, const WaitItem *item) {
    for (size_t i = 0; i < earlier->count; i++) {
        if (earlier->rows[i].slot == item->slot) return true;
    }
    return false;
}

typedef struct Found { // of a set: what has settled, and the groups that are open
    Settled *all;
    size_t count;
    uint32_t open_groups;
} Found;

static Status find_settled(Kernel *kernel, Run *run, const WaitSet *set, Found *ret_found) {
    Resolved earlier; // [groups-2] of waits/groups.c
    *ret_found = (Found){0};
    TRY(deliveries_since(kernel, run, &kernel->scratch, &earlier));
    for (size_t i = 0; i < set->count; i++) {
        const WaitItem *item = &set->items[i];
        Settled settled = {.place = i};
        bool is_it;
        if (was_delivered(&earlier, item)) continue;
        TRY(item_look(kernel, run, item, &settled, &is_it));
        if (!is_it) {
            ret_found->open_groups |= 1u << item->group;
            continue;
        }
        settled.delivery.item = item;
        if (!ret_found->all) {
            ret_found->all = ARENA_ARRAY(&kernel->scratch, Settled, set->count);
        }
        ret_found->all[ret_found->count++] = settled;
    }
    return OK;
}

static bool found_is_quiet(const Found *found) { // [waits-wait-7]
    for (size_t i = 0; i < found->count; i++) {
        const Delivery *delivery = &found->all[i].delivery;
        bool is_open = found->open_groups & (1u << delivery->item->group);
        if (!is_open || !outcome_is_quiet(delivery->item, delivery->outcome)) return false;
    }
    return true;
}

static Status check_each(Kernel *kernel, Run *run, const WaitSet *set, Resolved *resolved) {
    Found found;
    TRY(find_settled(kernel, run, set, &found));
    if (found.count == 0) return OK;
    resolved->is_quiet = found_is_quiet(&found);
    qsort(found.all, found.count, sizeof(Settled), settled_compare);
    TRY(settled_consume(kernel, run, &found.all[0]));
    size_t count = keep_deliverable(found.all, found.count);
    resolved->rows = ARENA_ARRAY(kernel->batch->arena, LogRow, count);
    for (; resolved->count < count; resolved->count++) {
        const Delivery *delivery = &found.all[resolved->count].delivery;
        TRY(delivery_log(kernel, run, delivery, resolved, &resolved->rows[resolved->count]));
    }
    return OK;
}

// Looks what of the set is satisfied already and takes it; one LOG_WAIT entry each.
static Status wait_check(Kernel *kernel, Run *run, const WaitSet *set, Resolved *ret_resolved) {
    ASSERT(set->count > 0);
    *ret_resolved = (Resolved){0};
    if (run_is_cancel_untold(&run->row)) { // [waits-wait-4]
        Delivery delivery = {.item = &set->items[0], .outcome = OUTCOME_CANCELLED};
        run_mark_cancel_told(&run->row);
        return log_one(kernel, run, &delivery, ret_resolved);
    }
    if (set->mode == WAIT_FIRST) return check_first(kernel, run, set, ret_resolved);
    return check_each(kernel, run, set, ret_resolved);
}

// ---- tasks that several runs wait for ----

static const Str SHARED_TASK = STR("task:"); // the ids of tasks with an idempotency key

static Str shared_topic(Kernel *kernel, int64_t task) { // no topic of callers begins like this
    return arena_printf(&kernel->scratch, "\x01task %lld", (long long)task);
}

// ---- parking ----

static Status waiters_insert(Kernel *kernel, Run *run, WaitSet *set) {
    for (size_t i = 0; i < set->count; i++) {
        WaitItem *item = &set->items[i];
        bool is_task = item->kind == WAIT_TASK;
        bool is_shared = is_task && str_starts_with(item->name, SHARED_TASK); // [waits-wait-6]
        item->waiter = 0;
        if (item->kind != WAIT_EVENT && !is_shared) continue;
        Str topic = is_shared ? shared_topic(kernel, item->target) : item->name;
        WaiterRow waiter = {.key = kernel_next_key(kernel),
                            .topic = topic,
                            .run = run->row.key,
                            .generation = run->row.generation,
                            .slot = item->slot};
        TRY(kernel_insert(kernel, TABLE_WAITERS, &waiter));
        item->waiter = waiter.key;
    }
    return OK;
}

// Parks the run on the set; or holds it there when it is wanted paused.
static Status wait_park(Kernel *kernel, Run *run, WaitSet *set) {
    RunRow *row = &run->row;
    bool is_held = row->is_pause_wanted != 0;
    ASSERT(set->count > 0 && !run_state_is_terminal(row->state)); // nobody would wake it
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i].since_ms == 0) set->items[i].since_ms = kernel_now(kernel);
        set->items[i].waiter = 0;
    }
    row->generation++;
    if (!is_held) TRY(waiters_insert(kernel, run, set));
    row->waits = wait_set_encode(&kernel->scratch, set);
    run->has_waits = false;
    if (is_held) return run_hold(kernel, run, RUN_SUSPENDED, STR_NULL);
    run_set_state(kernel, run, RUN_SUSPENDED);
    row->owner = 0;
    row->claim_rank = 0;
    row->paused_state = 0;
    row->due_at_ms =
        embedded_due(kernel, run, earliest_of(wait_set_deadline(set), row->deadline_at_ms));
    TRY(idle_enter(kernel, run, set));
    return run_store(kernel, run);
}

Status wait_suspend(Kernel *kernel, Run *run, WaitSet *set, int64_t affinity,
                    Resolved *ret_resolved) {
    ASSERT(run->row.state == RUN_RUNNING);
    int64_t turn_seq = run->facts.last_seq;
    TRY(wait_check(kernel, run, set, ret_resolved));
    if (ret_resolved->count == 0 || ret_resolved->is_quiet) {
        if (run->row.kind != RUN_FLOW) run->row.log_seq = turn_seq;
        run->row.affinity = affinity;
        return wait_park(kernel, run, set);
    }
    if (run->row.is_pause_wanted) return run_hold(kernel, run, RUN_RUNNING, STR_NULL);
    return run_store(kernel, run);
}

Status wait_resume(Kernel *kernel, Run *run) {
    ASSERT(run->row.state == RUN_PAUSED && run->row.paused_state == RUN_SUSPENDED);
    WaitSet set;
    Resolved resolved;
    TRY(run_waits(kernel, run, &set));
    TRY(wait_check(kernel, run, &set, &resolved));
    if (resolved.count == 0 || resolved.is_quiet) return wait_park(kernel, run, &set);
    TRY(deliveries_prepend(kernel, run, &resolved));
    return run_make_ready(kernel, run, resolved);
}

Status wait_take(Kernel *kernel, Run *run, const WaitSet *set, Resolved *ret_resolved) {
    ASSERT(run->row.state == RUN_RUNNING);
    TRY(wait_check(kernel, run, set, ret_resolved));
    return ret_resolved->count > 0 ? run_store(kernel, run) : OK;
}

// ---- something arrived ----

void wait_tell_running(Kernel *kernel, const Run *run) {
    bool may_take = run->row.state == RUN_RUNNING && run->row.kind == RUN_CODE;
    if (may_take) grown_push(kernel, run);
}

Status wait_deliver(Kernel *kernel, Run *run, const Delivery *deliveries, size_t count) {
    ASSERT(run->row.state == RUN_SUSPENDED && count > 0);
    Resolved resolved = {.rows = ARENA_ARRAY(kernel->batch->arena, LogRow, count)};
    for (; resolved.count < count; resolved.count++) {
        LogRow *row = &resolved.rows[resolved.count];
        TRY(delivery_log(kernel, run, &deliveries[resolved.count], &resolved, row));
    }
    TRY(deliveries_prepend(kernel, run, &resolved));
    return run_make_ready(kernel, run, resolved);
}

// Delivers to the run `key` if it is parked on an item of that kind and target.
static Status deliver_target(Kernel *kernel, int64_t key, WaitKind kind, int64_t target,
                             const Delivery *delivery) {
    Run run;
    Status status = run_load(kernel, key, &run);
    if (status == ERR_NOT_FOUND) return OK; // the parent was purged
    TRY(status);
    if (run.row.state != RUN_SUSPENDED) { // it looks for itself when it parks
        wait_tell_running(kernel, &run);
        return OK;
    }
    WaitSet set;
    TRY(run_waits(kernel, &run, &set));
    Delivery found = *delivery;
    bool is_quiet = false;
    found.item = wait_set_find(&set, kind, target);
    if (!found.item) return idle_look_again(kernel, &run, &set);
    if (outcome_is_quiet(found.item, found.outcome)) {
        TRY(group_has_open(kernel, &run, &set, (size_t)(found.item - set.items), &is_quiet));
    }
    if (!is_quiet) return wait_deliver(kernel, &run, &found, 1);
    LogRow entry; // [waits-wait-7]
    const Resolved none = {0};
    grown_push(kernel, &run);
    return delivery_log(kernel, &run, &found, &none, &entry);
}

// The runs that wait for a task of another run.
static Status deliver_guests(Kernel *kernel, const TaskRow *task,
                             const Delivery *delivery) { // [waits-wait-6]
    if (!str_starts_with(task->id, SHARED_TASK)) return OK;
    WaiterRow wanted = {.topic = shared_topic(kernel, task->key)}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_WAITERS, WAITERS_BY_TOPIC, &wanted, PAGE_ROWS);
    while (scan.limit > 0) {
        TRY(kernel_scan_on(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (rows[i].run == task->run) continue; // its own: whoever calls sees to that
            TRY(deliver_target(kernel, rows[i].run, WAIT_TASK, task->key, delivery));
        }
    }
    return OK;
}

Status wait_task_ended(Kernel *kernel, const TaskRow *task, TaskWaiters waiters) {
    Delivery delivery;
    task_delivery(task, &delivery);
    TRY(deliver_guests(kernel, task, &delivery));
    if (waiters == TASK_WAITERS_GUESTS || task->run == 0) return OK;
    return deliver_target(kernel, task->run, WAIT_TASK, task->key, &delivery);
}

Status wait_child_ended(Kernel *kernel, const RunRow *child, Str result) {
    if (child->parent == 0) return OK;
    Delivery delivery = child_delivery(child, result);
    return deliver_target(kernel, child->parent, WAIT_CHILD, child->key, &delivery);
}
