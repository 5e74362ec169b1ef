// Idle: when parked runs leave memory, and how one comes back for a reader.
//
// A parked run is only a cache (resident.h [resident-1]): its turn committed everything, so
// releasing it takes no last checkpoint, only an entry in its log. It leaves when it has waited for
// its time-out, when there is no room, or when somebody asks for it. Waking loads it again
// (loading.c), which is the same for an event, a timer, a cancellation or a rewind: the store makes
// the run ready, and who is not in memory is read from the store.
//
// Invariants [residents-idle-1]-[residents-idle-4] are in idle.h.
//
// Not here: what idle is (model/waits.h, store/kernel/waits/idle.c), loading (loading.c).
#include "engine/residents/idle.h"
#include "base/limits.h"
#include "base/memory.h"
#include "engine/runners/flow_machine.h"
#include "flow/check/config.h"
#include "store/reads.h"

enum { WATCHED_LOOK_MS = 5000 };

typedef struct IdleTimeout {
    Str workflow;       // owned
    int64_t timeout_ms; // <= 0: never
} IdleTimeout;

void idle_init(Idle *self, const CoordinatorSetup *setup, const IdleParts *parts) {
    *self = (Idle){.setup = setup,
                   .residents = parts->residents,
                   .modules = parts->modules,
                   .notices = parts->notices};
    strmap_init(&self->timeouts);
    arena_init(&self->scratch);
}

void idle_done(Idle *self) {
    Str name;
    void *entry;
    for (size_t at = 0; strmap_next(&self->timeouts, &at, &name, &entry);) {
        mem_free((void *)(uintptr_t)name.data);
        mem_free(entry);
    }
    strmap_done(&self->timeouts);
    arena_done(&self->scratch);
}

static bool has_reader(const Idle *self, const ResidentRun *run) {
    return world_run_has_reader(self->setup->world, run->id);
}

// ---- how long ----

static int64_t timeout_of(const Idle *self, Str workflow, int64_t configured_ms) {
    const IdleTimeout *entry =
        self->timeouts.count > 0 ? strmap_get(&self->timeouts, workflow) : NULL;
    int64_t timeout_ms = self->setup->config.idle_release_ms;
    if (configured_ms != 0) timeout_ms = configured_ms;
    if (entry != NULL) timeout_ms = entry->timeout_ms; // who operates it has the last word
    return timeout_ms > 0 ? timeout_ms : 0;
}

static void schedule(Idle *self, ResidentRun *run) {
    if (run->idle_timeout_ms > 0)
        residents_schedule(self->residents, run, run->parked_at_ms + run->idle_timeout_ms);
}

static int64_t awaited_task(const ResidentRun *run, const WaitSet *waits) {
    const WaitItem *item = waits->items;
    bool is_task = run->kind == RUN_FLOW && waits->count == 1 && item->kind == WAIT_TASK &&
                   item->group == 0 && item->deadline_at_ms == 0;
    return is_task ? item->position : NO_POSITION;
}

void idle_parked(Idle *self, ResidentRun *run, const TurnOutput *output) {
    bool is_quiet = wait_set_is_quiet(&output->waits);
    run->awaited_task = awaited_task(run, &output->waits);
    run->parked_at_ms = env_now_ms(self->setup->env);
    run->has_work = !is_quiet;
    run->idle_timeout_ms = is_quiet ? timeout_of(self, run->workflow, output->idle_timeout_ms)
                                    : 0; // [residents-idle-3]
    residents_move(self->residents, run, PHASE_PARKED);
    schedule(self, run);
}

void idle_set_timeout(Idle *self, Str workflow, int64_t timeout_ms) {
    IdleTimeout *entry = strmap_get(&self->timeouts, workflow);
    if (entry == NULL) {
        entry = mem_zalloc(sizeof(IdleTimeout));
        entry->workflow = (Str){mem_copy(workflow.data, workflow.len), workflow.len};
        strmap_put(&self->timeouts, entry->workflow, entry);
    }
    entry->timeout_ms = timeout_ms;
}

// ---- leaving ----

static void watch(Idle *self, ResidentRun *run, int64_t now_ms) { // [residents-idle-2]
    residents_move(self->residents, run, PHASE_WATCHED);
    residents_schedule(self->residents, run, now_ms + WATCHED_LOOK_MS);
}

static void release(Idle *self, Commit *commit, ResidentRun *run, bool is_forced) {
    Op *op = commit_add_own(commit, OP_NOTE_RELEASED);
    op->in.memory = (MemoryNote){.run = run->key,
                                 .epoch = run->claim.epoch,
                                 .is_forced = is_forced,
                                 .has_entry = true,
                                 .idle_ms = is_forced ? 0 : run->idle_timeout_ms};
    residents_move(self->residents, run, PHASE_RELEASING);
}

static void look_at_due(Idle *self, Commit *commit, ResidentRun *run) {
    int64_t now_ms = commit->batch.now_ms;
    bool is_due = run->idle_timeout_ms > 0 && run->parked_at_ms + run->idle_timeout_ms <= now_ms;
    if (has_reader(self, run)) {
        watch(self, run, now_ms);
    } else if (is_due) {
        release(self, commit, run, false);
    } else { // its reader has left before its time came
        residents_move(self->residents, run, PHASE_PARKED);
        schedule(self, run);
    }
}

static bool lacks_room(const Idle *self) {
    const Residents *residents = self->residents;
    if (residents->counts[PHASE_PARKED] == 0) return false;
    size_t kept = residents->counts[PHASE_PARKED] + residents->counts[PHASE_WATCHED];
    size_t size = residents->total_size - residents->releasing_size;
    return (int64_t)kept > self->setup->config.max_parked_runs ||
           (self->setup->config.max_resident_size > 0 &&
            (int64_t)size > self->setup->config.max_resident_size);
}

// [residents-idle-5]
static ResidentRun *next_to_leave(Idle *self) {
    const List *parked = &self->residents->phases[PHASE_PARKED];
    ResidentRun *oldest = container_of(parked->next, ResidentRun, link);
    ResidentRun *newest = container_of(parked->prev, ResidentRun, link);
    self->is_newest_next = oldest->has_work && newest->has_work && !self->is_newest_next;
    return self->is_newest_next ? newest : oldest;
}

void idle_add_ops(Idle *self, Commit *commit, size_t count) {
    if (count > LIMIT_RELEASES_PER_BATCH) count = LIMIT_RELEASES_PER_BATCH;
    size_t most = commit->batch.count + count;
    for (HeapNode *node = heap_peek(&self->residents->releases);
         node != NULL && node->at <= commit->batch.now_ms && commit->batch.count < most;
         node = heap_peek(&self->residents->releases)) {
        heap_remove(&self->residents->releases, node);
        look_at_due(self, commit, container_of(node, ResidentRun, release));
    }
    while (lacks_room(self) && commit->batch.count < most) {
        ResidentRun *run = next_to_leave(self);
        if (has_reader(self, run)) watch(self, run, commit->batch.now_ms);
        else if (run->has_work) residents_evict(self->residents, run); // [residents-idle-3]
        else release(self, commit, run, true);
    }
}

int64_t idle_next_ms(const Idle *self) {
    if (lacks_room(self)) return 0;
    const HeapNode *first = heap_peek(&self->residents->releases);
    return first != NULL ? first->at : INT64_MAX;
}

// The store's answer for a run that was to leave.
static void apply_released(Idle *self, const Op *op) {
    ResidentRun *run = residents_get(self->residents, op->in.memory.run);
    bool is_noted = op->out.status == OK && op->in.memory.has_entry;
    if (is_noted) self->release_count++;
    if (run == NULL) return;
    if (is_noted) {
        world_tell(self->setup->world, ENGINE_RUN_RELEASED, run->id, run->workflow, STR_NULL);
        notices_run(self->notices, NOTICE_RELEASED, run->id, run->workflow);
    }
    if (run->phase != PHASE_RELEASING) {
        // It was woken by the same batch: after the entry says so, it is not in memory.
        if (is_noted) run->is_stale = run->is_absent = true;
        return;
    }
    bool is_busy = op->out.status == ERR_CONFLICT &&
                   op->out.memory.state == RUN_SUSPENDED; // [residents-idle-3]
    if (!is_busy) {
        residents_remove(self->residents,
                         run); // [residents-idle-1]; or what is here is out of date
        return;
    }
    residents_move(self->residents, run, PHASE_PARKED);
    int64_t since_ms = op->out.memory.idle_since_ms; // [residents-idle-4]
    run->parked_at_ms = since_ms > 0 ? since_ms : env_now_ms(self->setup->env);
    schedule(self, run);
}

// ---- coming back for a reader ----

void idle_tell_reloaded(Idle *self, const ResidentRun *run) {
    self->reload_count++;
    world_tell(self->setup->world, ENGINE_RUN_RELOADED, run->id, run->workflow, STR_NULL);
    notices_run(self->notices, NOTICE_RELOADED, run->id, run->workflow);
}

static void apply_reloaded(Idle *self, const Op *op) {
    ResidentRun *run = residents_get(self->residents, op->in.memory.run);
    if (run == NULL) return;
    if (op->out.status != OK) { // if something else woke it first, its turn says that it is back
        if (phase_is_parked(run->phase)) residents_remove(self->residents, run);
        return;
    }
    run->is_absent = false;
    idle_tell_reloaded(self, run);
}

bool idle_is_note(OpKind kind) { return kind == OP_NOTE_RELEASED || kind == OP_NOTE_RELOADED; }

void idle_apply(Idle *self, const Op *op) {
    if (op->kind == OP_NOTE_RELEASED) apply_released(self, op);
    else apply_reloaded(self, op);
}

static int64_t configured_timeout(Idle *self, const RunRow *row) {
    FlowModule *module;
    FlowConfig config = {0};
    uint32_t index;
    Diag diag;
    if (row->kind != RUN_FLOW || modules_get(self->modules, row->definition, &module, &diag) != OK)
        return 0;
    if (flow_module_find_workflow(module, row->workflow, &index) != OK) return 0;
    flow_config_read(&self->scratch, flow_module_workflow(module, index).config_json, &config);
    return config.idle_timeout_ms;
}

static Status require_loadable(const RunRow *row, Diag *diag) {
    if (run_state_is_terminal(row->state))
        return diag_set(diag, ERR_TERMINAL, "RUN_TERMINAL", "the run \"%.*s\" has %s",
                        STR_ARG(row->id), run_state_name(row->state));
    if (row->state != RUN_SUSPENDED && row->state != RUN_RUNNING)
        return diag_set(diag, ERR_CONFLICT, "RUN_NOT_IDLE",
                        "the run \"%.*s\" is %s; only runs that wait are brought into memory",
                        STR_ARG(row->id), run_state_name(row->state));
    bool has_snapshot = row->kind == RUN_FLOW && row->snapshot.len > 0;
    return has_snapshot ? flow_machine_check(row->snapshot, diag) : OK;
}

// What a reader needs of a run is in its log; so its row is enough to stand for it, and what it
// needs to go on is read when it wakes: it may have gone on elsewhere. Who asks for the run itself
// is told now whether that can be read; its log can be read in any case.
static Status reload(Idle *self, Op *op, bool *ret_is_noted) {
    RunRow row;
    TRY(store_run_by_id(self->setup->store, &self->scratch, op->in.memory.run_id, &row,
                        &op->out.diag));
    op->in.memory.run = row.key;
    op->out.memory.state = row.state;
    Status status = op->in.memory.is_asked ? require_loadable(&row, &op->out.diag) : OK;
    if (status == ERR_CORRUPT || status == ERR_UNSUPPORTED)
        LOG(self->setup->logger, LOG_ERROR,
            "run %.*s (%.*s) cannot be brought back into memory: %s (%s)", STR_ARG(row.id),
            STR_ARG(row.workflow), op->out.diag.message, op->out.diag.code);
    TRY(status);
    *ret_is_noted = row.state == RUN_SUSPENDED && residents_get(self->residents, row.key) == NULL;
    if (!*ret_is_noted) return OK;
    row.snapshot = STR_NULL;
    ResidentRun *run = residents_add(self->residents, &row, STR_NULL, STR_NULL);
    run->is_stale = run->is_absent = true;
    run->parked_at_ms = env_now_ms(self->setup->env);
    run->idle_timeout_ms = timeout_of(self, run->workflow, configured_timeout(self, &row));
    residents_move(self->residents, run, PHASE_PARKED);
    schedule(self, run);
    op->in.memory.epoch = row.epoch;
    op->in.memory.has_entry = true;
    return OK;
}

static Status ask_release(Idle *self, Op *op) {
    ResidentRun *run = residents_find_parked(self->residents, op->in.memory.run_id);
    op->in.memory.is_any_epoch = true;
    op->in.memory.run = run != NULL ? run->key : 0;
    op->in.memory.has_entry = run != NULL && run->phase != PHASE_RELEASING;
    if (!op->in.memory.has_entry) return OK; // the store says what is to be said
    if (has_reader(self, run))
        return diag_set(&op->out.diag, ERR_CONFLICT, "RUN_HAS_READER",
                        "somebody reads the stream of the run \"%.*s\"", STR_ARG(run->id));
    residents_move(self->residents, run, PHASE_RELEASING);
    return OK;
}

void idle_undo(Idle *self, const Op *op) {
    if (!idle_is_note(op->kind)) return;
    ResidentRun *run = residents_get(self->residents, op->in.memory.run);
    if (run == NULL) return;
    if (op->kind == OP_NOTE_RELOADED && phase_is_parked(run->phase)) {
        residents_remove(self->residents, run);
    } else if (run->phase == PHASE_RELEASING) {
        residents_move(self->residents, run, PHASE_PARKED);
        schedule(self, run);
    }
}

void idle_forget_request(Idle *self, const Op *op) {
    if (!idle_is_note(op->kind)) return;
    ResidentRun *run = residents_get(self->residents, op->in.memory.run);
    if (run == NULL || !phase_is_parked(run->phase)) return;
    run->is_stale = true; // whether the entry is there is not known
    residents_move(self->residents, run, PHASE_PARKED);
    schedule(self, run);
}

bool idle_take_request(Idle *self, Request *request) {
    Op *op = &request->op;
    bool is_noted = true;
    Status status =
        op->kind == OP_NOTE_RELEASED ? ask_release(self, op) : reload(self, op, &is_noted);
    arena_reset(&self->scratch);
    if (status == OK && is_noted) return true;
    request_answer(request, status, NULL);
    return false;
}
