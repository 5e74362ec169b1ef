// Idle: when parked runs leave memory, and how one comes back for a reader.
//
// A parked run is only a cache (resident.h [M1]): its turn committed everything, so releasing it
// takes no last checkpoint, only an entry in its log. It leaves when it has waited for its
// time-out, when there is no room, or when somebody asks for it. Waking loads it again
// (coordinator/runs.c), which is the same for an event, a timer, a cancellation or a rewind: the
// store makes the run ready, and who is not in memory is read from the store.
//   [J1] A run is dropped only when the batch that notes it has been committed; and the store notes
//        it only for a run that is still parked. So an event during the release finds the run
//        either in memory or in the store, never in between, and is delivered once.
//   [J2] Nothing is scanned: deadlines are in a heap, the least recently used run is the first of
//        its list. A run with a reader leaves that list, and is looked at again after a while.
//   [J3] Runs with work under way (a task, a backoff) leave only to make room.
//   [J4] A time-out counts from when the run became idle, which may be later than when it parked:
//        a task nobody waits for may still have been under way. The store knows, and says so when
//        it refuses the release; then the run is looked at again when its time has come.
//
// Not here: what idle is (model/waits.h, store/kernel/runs/idle.c), loading (coordinator/runs.c).
#include "base/limits.h"
#include "base/memory.h"
#include "engine/coordinator/internal.h"
#include "engine/runners/flow_machine.h"
#include "flow/check/config.h"
#include "store/reads.h"

enum { WATCHED_LOOK_MS = 5000 };

static bool has_reader(Coordinator *c, const ResidentRun *run) {
    const WorldOps *ops = c->world->ops;
    return ops->has_reader != NULL && ops->has_reader(c->world, run->id);
}

// ---- how long ----

static int64_t timeout_of(Coordinator *c, Str workflow, int64_t configured_ms) {
    const IdleTimeout *entry =
        c->idle_timeouts.count > 0 ? strmap_get(&c->idle_timeouts, workflow) : NULL;
    int64_t timeout_ms = c->config.idle_release_ms;
    if (configured_ms != 0) timeout_ms = configured_ms;
    if (entry != NULL) timeout_ms = entry->timeout_ms; // who operates it has the last word
    return timeout_ms > 0 ? timeout_ms : 0;
}

static void schedule(Coordinator *c, ResidentRun *run) {
    if (run->idle_timeout_ms > 0)
        residents_schedule(&c->residents, run, run->parked_at_ms + run->idle_timeout_ms);
}

void idle_parked(Coordinator *c, ResidentRun *run, const Execution *execution) {
    const TurnOutput *output = &execution->output;
    bool is_quiet = wait_set_is_quiet(&output->waits);
    run->parked_at_ms = env_now_ms(c->env);
    run->idle_timeout_ms =
        is_quiet ? timeout_of(c, run->workflow, output->idle_timeout_ms) : 0; // [J3]
    residents_move(&c->residents, run, PHASE_PARKED);
    schedule(c, run);
}

void coordinator_set_idle_timeout(Coordinator *c, Str workflow, int64_t timeout_ms) {
    IdleTimeout *entry = strmap_get(&c->idle_timeouts, workflow);
    if (entry == NULL) {
        entry = mem_zalloc(sizeof(IdleTimeout));
        entry->name = (Str){mem_copy(workflow.data, workflow.len), workflow.len};
        strmap_put(&c->idle_timeouts, entry->name, entry);
    }
    entry->timeout_ms = timeout_ms;
}

// ---- leaving ----

static void watch(Coordinator *c, ResidentRun *run, int64_t now_ms) { // [J2]
    residents_move(&c->residents, run, PHASE_WATCHED);
    residents_schedule(&c->residents, run, now_ms + WATCHED_LOOK_MS);
}

static void release(Coordinator *c, Turn *turn, ResidentRun *run, bool is_forced) {
    Op *op = turn_add(turn, OP_NOTE_RELEASED, NULL, NULL);
    op->in.memory = (MemoryNote){.run = run->key,
                                 .epoch = run->epoch,
                                 .is_forced = is_forced,
                                 .has_entry = true,
                                 .idle_ms = is_forced ? 0 : run->idle_timeout_ms};
    residents_move(&c->residents, run, PHASE_RELEASING);
}

static void look_at_due(Coordinator *c, Turn *turn, ResidentRun *run) {
    int64_t now_ms = turn->batch.now_ms;
    bool is_due = run->idle_timeout_ms > 0 && run->parked_at_ms + run->idle_timeout_ms <= now_ms;
    if (has_reader(c, run)) {
        watch(c, run, now_ms);
    } else if (is_due) {
        release(c, turn, run, false);
    } else { // its reader has left before its time came
        residents_move(&c->residents, run, PHASE_PARKED);
        schedule(c, run);
    }
}

bool idle_is_crowded(const Coordinator *c) {
    const Residents *residents = &c->residents;
    if (residents->counts[PHASE_PARKED] == 0) return false;
    size_t kept = residents->counts[PHASE_PARKED] + residents->counts[PHASE_WATCHED];
    size_t size = residents->total_size - residents->releasing_size;
    return (int64_t)kept > c->config.max_parked_runs ||
           (c->config.max_resident_size > 0 && (int64_t)size > c->config.max_resident_size);
}

void idle_add_ops(Coordinator *c, Turn *turn, size_t count) {
    if (count > LIMIT_RELEASES_PER_BATCH) count = LIMIT_RELEASES_PER_BATCH;
    size_t most = turn->batch.count + count;
    for (HeapNode *node = heap_peek(&c->residents.releases);
         node != NULL && node->at <= turn->batch.now_ms && turn->batch.count < most;
         node = heap_peek(&c->residents.releases)) {
        heap_remove(&c->residents.releases, node);
        look_at_due(c, turn, container_of(node, ResidentRun, release));
    }
    while (idle_is_crowded(c) && turn->batch.count < most) {
        List *oldest = list_first(&c->residents.phases[PHASE_PARKED]);
        ResidentRun *run = container_of(oldest, ResidentRun, link);
        if (has_reader(c, run)) watch(c, run, turn->batch.now_ms);
        else release(c, turn, run, true);
    }
}

int64_t idle_next_ms(const Coordinator *c) {
    if (idle_is_crowded(c)) return 0;
    const HeapNode *first = heap_peek(&c->residents.releases);
    return first != NULL ? first->at : INT64_MAX;
}

// The store's answer for a run that was to leave.
static void apply_released(Coordinator *c, const Op *op) {
    ResidentRun *run = residents_get(&c->residents, op->in.memory.run);
    bool is_noted = op->out.status == OK && op->in.memory.has_entry;
    if (is_noted) c->stats.releases++;
    if (run == NULL) return;
    if (is_noted) {
        notify(c, ENGINE_RUN_RELEASED, run->id, run->workflow, STR_NULL);
        notice_run(c, NOTICE_RELEASED, run->id, run->workflow);
    }
    if (run->phase != PHASE_RELEASING) {
        // It was woken by the same batch: after the entry says so, it is not in memory.
        if (is_noted) run->is_stale = run->is_absent = true;
        return;
    }
    bool is_busy = op->out.status == ERR_CONFLICT && op->out.memory.state == RUN_SUSPENDED; // [J3]
    if (!is_busy) {
        residents_remove(&c->residents, run); // [J1]; or what is here is out of date
        return;
    }
    residents_move(&c->residents, run, PHASE_PARKED);
    int64_t since_ms = op->out.memory.idle_since_ms; // [J4]
    run->parked_at_ms = since_ms > 0 ? since_ms : env_now_ms(c->env);
    schedule(c, run);
}

// ---- coming back for a reader ----

static void apply_reloaded(Coordinator *c, const Op *op) {
    ResidentRun *run = residents_get(&c->residents, op->in.memory.run);
    if (run == NULL) return;
    if (op->out.status != OK) { // if something else woke it first, its turn says that it is back
        if (phase_is_parked(run->phase)) residents_remove(&c->residents, run);
        return;
    }
    run->is_absent = false;
    c->stats.reloads++;
    notify(c, ENGINE_RUN_RELOADED, run->id, run->workflow, STR_NULL);
    notice_run(c, NOTICE_RELOADED, run->id, run->workflow);
}

void idle_apply(Coordinator *c, const Op *op) {
    if (op->kind == OP_NOTE_RELEASED) apply_released(c, op);
    else apply_reloaded(c, op);
}

static int64_t configured_timeout(Coordinator *c, const RunRow *row) {
    FlowModule *module;
    FlowConfig config = {0};
    uint32_t index;
    Diag diag;
    if (row->kind != RUN_FLOW || modules_get(c, row->definition, &module, &diag) != OK) return 0;
    if (flow_module_find_workflow(module, row->workflow, &index) != OK) return 0;
    flow_config_read(&c->scratch, flow_module_workflow(module, index).config_json, &config);
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
static Status reload(Coordinator *c, Op *op, bool *ret_is_noted) {
    RunRow row;
    TRY(store_run_by_id(c->store, &c->scratch, op->in.memory.run_id, &row, &op->out.diag));
    op->in.memory.run = row.key;
    op->out.memory.state = row.state;
    Status status = op->in.memory.is_asked ? require_loadable(&row, &op->out.diag) : OK;
    if (status == ERR_CORRUPT || status == ERR_UNSUPPORTED)
        LOG(c->logger, LOG_ERROR, "run %.*s (%.*s) cannot be brought back into memory: %s (%s)",
            STR_ARG(row.id), STR_ARG(row.workflow), op->out.diag.message, op->out.diag.code);
    TRY(status);
    *ret_is_noted = row.state == RUN_SUSPENDED && residents_get(&c->residents, row.key) == NULL;
    if (!*ret_is_noted) return OK;
    row.snapshot = STR_NULL;
    ResidentRun *run = residents_add(&c->residents, &row, STR_NULL, STR_NULL);
    run->is_stale = run->is_absent = true;
    run->parked_at_ms = env_now_ms(c->env);
    run->idle_timeout_ms = timeout_of(c, run->workflow, configured_timeout(c, &row));
    residents_move(&c->residents, run, PHASE_PARKED);
    schedule(c, run);
    op->in.memory.epoch = row.epoch;
    op->in.memory.has_entry = true;
    return OK;
}

static Status ask_release(Coordinator *c, Op *op) {
    ResidentRun *run = residents_find_parked(&c->residents, op->in.memory.run_id);
    op->in.memory.epoch = -1;
    op->in.memory.run = run != NULL ? run->key : 0;
    op->in.memory.has_entry = run != NULL && run->phase != PHASE_RELEASING;
    if (!op->in.memory.has_entry) return OK; // the store says what is to be said
    if (has_reader(c, run))
        return diag_set(&op->out.diag, ERR_CONFLICT, "RUN_HAS_READER",
                        "somebody reads the stream of the run \"%.*s\"", STR_ARG(run->id));
    residents_move(&c->residents, run, PHASE_RELEASING);
    return OK;
}

void idle_undo(Coordinator *c, const Op *op) {
    if (op->kind != OP_NOTE_RELEASED && op->kind != OP_NOTE_RELOADED) return;
    ResidentRun *run = residents_get(&c->residents, op->in.memory.run);
    if (run == NULL) return;
    if (op->kind == OP_NOTE_RELOADED && phase_is_parked(run->phase)) {
        residents_remove(&c->residents, run);
    } else if (run->phase == PHASE_RELEASING) {
        residents_move(&c->residents, run, PHASE_PARKED);
        schedule(c, run);
    }
}

void idle_forget_request(Coordinator *c, const Op *op) {
    if (op->kind != OP_NOTE_RELEASED && op->kind != OP_NOTE_RELOADED) return;
    ResidentRun *run = residents_get(&c->residents, op->in.memory.run);
    if (run == NULL || !phase_is_parked(run->phase)) return;
    run->is_stale = true; // whether the entry is there is not known
    residents_move(&c->residents, run, PHASE_PARKED);
    schedule(c, run);
}

bool idle_take_request(Coordinator *c, Request *request) {
    Op *op = &request->op;
    bool is_noted = true;
    Status status = op->kind == OP_NOTE_RELEASED ? ask_release(c, op) : reload(c, op, &is_noted);
    arena_reset(&c->scratch);
    if (status == OK && is_noted) return true;
    request_answer(c, request, status, NULL);
    return false;
}
