// Creating runs: by a caller, by a parent's turn, and as a fork of another run.
//
// A run is born in one insert, in its final first state: PENDING until its start time, or ready
// and, when the batch's node has room, claimed by it.
//   [create-1] A taken id is found by the insert itself, so that a new run costs no look-up.
//   [create-2] An idempotency key stands for what was started with it: the same content answers the
//        same run, other content ERR_CONFLICT, and a run that was purged meanwhile is not
//        started a second time.
//   [create-3] The first log entry is LOG_STARTED with the input; input_seq names it.
//   [create-4] A run that takes the place of one that has ended does so in one operation: nobody
//        finds the id free, and when the new one is refused the old one is still there.
//   [create-5] What the definition says about its runs is applied here, where the definition is
//        known and nothing can come between: defaults are filled in, and an input that the workflow
//        does not take is refused; a child is then born failed, as its parent learns by awaiting
//        it.
//   [create-6] A fork that goes on in another version has a snapshot that was made from the one at
//        its place: version and digest say so. Another one there changes nothing.
//
// Not here: what a turn does with its children (runs/turn.c).
#include "base/assert.h"
#include "base/containers/hash.h"
#include "model/phase.h"
#include "model/trace.h"
#include "store/kernel/events/events.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/runs/snapshots.h"
#include "store/kernel/tasks/embedded.h"

static Status tags_insert(Kernel *kernel, int64_t run, Str tags) {
    TagReader reader = {tags};
    Str tag;
    while (tag_next(&reader, &tag)) {
        TagRow row = {.tag = tag, .run = run};
        Status status = kernel_insert_new(kernel, TABLE_TAGS, &row);
        if (status != OK && status != ERR_CONFLICT) return status; // the same tag given twice
    }
    return OK;
}

// The current definition of a workflow. ERR_NOT_FOUND: there is none.
static Status definition_find(Kernel *kernel, Str workflow, DefinitionRow *ret_definition) {
    DefinitionRow wanted = {.name = workflow}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_DEFINITIONS, DEFINITIONS_BY_NAME, &wanted, PAGE_ROWS);
    while (scan.limit > 0) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        TRY(kernel_scan_on(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (!rows[i].is_current) continue;
            *ret_definition = rows[i];
            return OK;
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return ERR_NOT_FOUND;
}

// What the definition says about a run that is asked for.
typedef struct Verdict {
    Str version;   // of the definition; null = it has none
    Status status; // OK = it can be started
    Str error;     // error object, for a child that is born failed
    Diag diag;
} Verdict;

static const Str ERROR_NO_WORKFLOW =
    STR("{\"type\":\"NotFoundError\",\"message\":\"there is no workflow of that name\"}");

// Pins a spec that only names a workflow to its current definition, and applies what that says
// [create-5]; a native one has its name and nothing else. The status is that of the rows; whether
// the run is refused is an answer.
static Status spec_pin(Kernel *kernel, RunSpec *spec, Verdict *ret_verdict) {
    *ret_verdict = (Verdict){0};
    if (spec->kind != 0) return OK;
    spec->kind = RUN_FLOW;
    DefinitionRow definition;
    Status status = definition_find(kernel, spec->workflow, &definition);
    if (status == ERR_NOT_FOUND) {
        ret_verdict->error = ERROR_NO_WORKFLOW;
        ret_verdict->status = diag_set(&ret_verdict->diag, status, "WORKFLOW_NOT_FOUND",
                                       "there is no workflow \"%.*s\"", STR_ARG(spec->workflow));
        return OK;
    }
    TRY(status);
    spec->kind = definition.kind;
    if (definition.kind == RUN_NATIVE) return OK;
    spec->definition = definition.key;
    ret_verdict->version = definition.version;
    if (!kernel->config.run_prepare) return OK;
    ret_verdict->status = kernel->config.run_prepare(&definition, spec, &kernel->scratch,
                                                     &ret_verdict->error, &ret_verdict->diag);
    return OK;
}

static Status refuse_start(Kernel *kernel, const Verdict *verdict) {
    return kernel_refuse(kernel, verdict->status, verdict->diag.code, "%s", verdict->diag.message);
}

Status run_check_workflow(Kernel *kernel, const RunSpec *spec) {
    RunSpec pinned = *spec;
    Verdict verdict;
    ArenaMark mark = arena_mark(&kernel->scratch);
    Status status = spec_pin(kernel, &pinned, &verdict);
    arena_rewind(&kernel->scratch, mark);
    TRY(status);
    return verdict.status == OK ? OK : refuse_start(kernel, &verdict);
}

static void digest_add(Sha256 *sha, Str s) {
    uint64_t size = str_is_null(s) ? UINT64_MAX : s.len; // null and empty differ
    sha256_update(sha, &size, sizeof(size));
    if (s.len > 0) sha256_update(sha, s.data, s.len);
}

// Definition, start time and keeping are left out: a repeated request may come after a deploy,
// later, or under another default, and is the same request all the same.
static Str spec_digest(Kernel *kernel, const RunSpec *spec) {
    Sha256 sha;
    sha256_init(&sha);
    digest_add(&sha, spec->workflow);
    digest_add(&sha, spec->input);
    digest_add(&sha, spec->queue);
    digest_add(&sha, tags_without_trace(spec->tags)); // another trace is the same request
    digest_add(&sha, spec->leftover_topic);
    int64_t numbers[] = {spec->kind, spec->priority, spec->timeout_ms, spec->leftover_policy};
    sha256_update(&sha, numbers, sizeof(numbers));
    uint8_t *digest = arena_alloc(&kernel->scratch, SHA256_SIZE);
    sha256_final(&sha, digest);
    return (Str){(const char *)digest, SHA256_SIZE};
}

static RunRow run_row_new(Kernel *kernel, const RunSpec *spec, const Run *parent) {
    int64_t now = kernel_now(kernel);
    int64_t start_at = spec->start_at_ms > now ? spec->start_at_ms : now;
    RunState state = start_at > now ? RUN_PENDING : RUN_RUNNING;
    return (RunRow){
        .key = kernel_next_key(kernel),
        .id = spec->id,
        .workflow = spec->workflow,
        .definition = spec->definition,
        .kind = spec->kind,
        .state = state,
        .phase = run_phase(state),
        .priority = spec->priority,
        .due_at_ms = start_at > now ? start_at : 0,
        .deadline_at_ms = spec->timeout_ms > 0 ? start_at + spec->timeout_ms : 0,
        .keep_ms = spec->keep_ms,
        .created_at_ms = now,
        .updated_at_ms = now,
        .parent = parent ? parent->row.key : 0,
        .parent_position = parent ? spec->parent_position : NOT_AWAITED,
        .depth = parent ? parent->row.depth + 1 : 0,
        .close_policy = parent ? spec->close_policy : CLOSE_ABANDON,
        .leftover_policy = spec->leftover_policy,
        .input_seq = 1, // [create-3]
        .log_seq = 1,
        .queue = spec->queue,
        .tags = spec->tags,
        .place = spec->kind == RUN_FLOW ? PLACE_START : PLACE_UNKNOWN,
        .leftover_topic = spec->leftover_topic,
    };
}

static void started_push(Kernel *kernel, const RunRow *row) {
    Batch *batch = kernel->batch;
    batch->out.started = batch_reserve(batch, batch->out.started, batch->out.started_count,
                                       &batch->out.started_capacity, sizeof(StartedRun));
    batch->out.started[batch->out.started_count++] = (StartedRun){
        .id = kernel_answer(kernel, row->id), .workflow = kernel_answer(kernel, row->workflow)};
}

// Inserts the row and what goes with it. ERR_CONFLICT: the id is taken, nothing was written.
static Status run_insert(Kernel *kernel, Run *run, Str input) {
    Status status = kernel_insert_new(kernel, TABLE_RUNS, &run->row);
    if (status != OK) return status;
    run->before = run->row;
    run->facts = (RunFacts){.last_seq = 1};
    LogRow started = {.run = run->row.key,
                      .seq = 1,
                      .at_ms = kernel_now(kernel),
                      .kind = LOG_STARTED,
                      .position = NO_POSITION,
                      .data = input};
    TRY(kernel_insert(kernel, TABLE_LOG, &started));
    TRY(tags_insert(kernel, run->row.key, run->row.tags));
    kernel_count(kernel, COUNTER_RUNS_FIRST + run->row.state, 1);
    kernel_count(kernel, COUNTER_RUNS_READY, run_is_ready(&run->row));
    kernel_count(kernel, COUNTER_STARTED_TOTAL, 1);
    kernel_note_due(kernel, run->row.due_at_ms);
    run_keep_facts(kernel, run);
    started_push(kernel, &run->row);
    return OK;
}

static Status existing_run(Kernel *kernel, Str id, RunCreated *ret_created) {
    Run run;
    Status status = run_load_id(kernel, id, &run);
    if (status == ERR_NOT_FOUND) { // then it was the key that was taken
        return kernel_corrupt(kernel, "the key sequence is behind");
    }
    TRY(status);
    *ret_created = (RunCreated){
        .key = run.row.key, .id = kernel_answer(kernel, run.row.id), .state = run.row.state};
    return OK;
}

static Status run_create_pinned(Kernel *kernel, const RunSpec *spec, const Verdict *verdict,
                                Run *parent, RunCreated *ret_created) {
    bool is_refused = verdict->status != OK;
    if (is_refused && !parent) {
        Run taken; // a taken id answers its run, whatever else the spec says
        Status found = run_load_id(kernel, spec->id, &taken);
        if (found != ERR_NOT_FOUND) {
            return found == OK ? existing_run(kernel, spec->id, ret_created) : found;
        }
        return refuse_start(kernel, verdict);
    }
    Run run = {.row = run_row_new(kernel, spec, parent)};
    if (run.row.state == RUN_RUNNING) TRY(run_set_ready(kernel, &run));
    Status status = run_insert(kernel, &run, spec->input);
    if (status == ERR_CONFLICT) {
        kernel->counters[COUNTER_NEXT_KEY]--; // nothing was made with it
        return existing_run(kernel, spec->id, ret_created);
    }
    TRY(status);
    if (parent && !(parent->facts.may_have & MAY_HAVE_CHILDREN)) {
        parent->facts.may_have |= MAY_HAVE_CHILDREN;
        run_keep_facts(kernel, parent);
    }
    *ret_created =
        (RunCreated){.key = run.row.key, .is_new = true, .id = spec->id, .state = run.row.state};
    if (is_refused) {
        Ending ending = {RUN_FAILED, OUTCOME_ERROR, verdict->error};
        return run_end(kernel, &run, &ending);
    }
    if (run.row.state == RUN_RUNNING) TRY(run_announce(kernel, &run, (Resolved){0}));
    if (parent) return OK;
    RunRow *answer = ARENA_NEW(kernel->batch->arena, RunRow);
    row_copy(&tables[TABLE_RUNS], kernel->batch->arena, &run.row, answer);
    ret_created->row = answer;
    ret_created->version = kernel_answer(kernel, verdict->version);
    return OK;
}

Status run_create(Kernel *kernel, const RunSpec *given, Run *parent, RunCreated *ret_created) {
    RunSpec pinned = *given;
    Verdict verdict;
    ArenaMark mark = arena_mark(&kernel->scratch); // a definition is large, and children are many
    Status status = spec_pin(kernel, &pinned, &verdict);
    if (status == OK) {
        status = run_create_pinned(kernel, &pinned, &verdict, parent, ret_created);
    }
    arena_rewind(&kernel->scratch, mark);
    return status;
}

// [create-2] OK: *ret_created is the run that was started with the key. ERR_NOT_FOUND: it is new.
static Status dedupe_start(Kernel *kernel, const RunSpec *spec, Str digest,
                           RunCreated *ret_created) {
    DedupeRow known;
    TRY(dedupe_find(kernel, STR("start"), spec->dedupe_key, &known));
    if (!str_equal(known.digest, digest)) {
        return kernel_refuse(kernel, ERR_CONFLICT, "DUPLICATE_KEY",
                             "the idempotency key \"%.*s\" was used to start something else",
                             STR_ARG(spec->dedupe_key));
    }
    Run run;
    Status status = run_load(kernel, known.run, &run);
    if (status == ERR_NOT_FOUND) {
        return kernel_refuse(kernel, ERR_CONFLICT, "RUN_PURGED",
                             "the run started with the idempotency key \"%.*s\" has been purged",
                             STR_ARG(spec->dedupe_key));
    }
    TRY(status);
    *ret_created = (RunCreated){
        .key = run.row.key, .id = kernel_answer(kernel, run.row.id), .state = run.row.state};
    return OK;
}

// [create-4] So nothing of the new run may be refused any more once the old one is gone.
static Status make_room(Kernel *kernel, const RunSpec *spec) {
    Run old;
    Status status = run_load_id(kernel, spec->id, &old);
    if (status == ERR_NOT_FOUND) return OK;
    TRY(status);
    if (!run_state_is_terminal(old.row.state)) return OK;
    TRY(run_check_workflow(kernel, spec));
    int64_t budget = INT64_MAX;
    bool is_gone;
    return run_purge(kernel, &old, &budget, &is_gone);
}

Status apply_create_run(Kernel *kernel, Op *op) {
    const RunSpec *spec = &op->in.create_run.spec;
    TRY(check_run_spec(kernel, spec));
    if (op->in.create_run.is_replacing) {
        ASSERT(str_is_null(spec->dedupe_key));
        TRY(make_room(kernel, spec));
    }
    bool has_key = !str_is_null(spec->dedupe_key);
    Str digest = has_key ? spec_digest(kernel, spec) : STR_NULL;
    RunCreated created = {0};
    Status status = has_key ? dedupe_start(kernel, spec, digest, &created) : ERR_NOT_FOUND;
    if (status == ERR_NOT_FOUND) {
        status = run_create(kernel, spec, NULL, &created);
        if (status == OK && created.is_new && has_key) {
            DedupeRow row = {.scope = STR("start"),
                             .id = spec->dedupe_key,
                             .run = created.key,
                             .digest = digest};
            status = dedupe_add(kernel, &row);
        }
    }
    TRY(status);
    op->out.create_run.key = created.key;
    op->out.create_run.is_new = created.is_new;
    op->out.create_run.id = created.id;
    op->out.create_run.state = created.state;
    op->out.create_run.row = created.row;
    op->out.create_run.version = created.version;
    return OK;
}

// ---- fork ----

Status run_input(Kernel *kernel, const RunRow *run, Str *ret_input) {
    LogRow wanted = {.run = run->key, .seq = run->input_seq}, entry;
    Status status = kernel_get(kernel, TABLE_LOG, &wanted, &entry);
    if (status == ERR_NOT_FOUND) return kernel_corrupt(kernel, "the input of a run is missing");
    TRY(status);
    *ret_input = entry.data;
    return OK;
}

static Status checkpoints_copy(Kernel *kernel, const RunRow *from, Run *to, int64_t position) {
    int64_t after = 0;
    for (;;) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        LogRow *rows = NULL;
        size_t count = 0;
        TRY(log_page(kernel, from->key, &after, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (!log_is_positioned(&rows[i]) || rows[i].position >= position) continue;
            TRY(run_log(kernel, to, &rows[i]));
        }
        arena_rewind(&kernel->scratch, mark);
        if (count < PAGE_ROWS) return OK;
    }
}

typedef struct ForkPlace { // where a fork begins
    FlowPoint point;       // scripts
    int64_t position;      // C workflows: checkpoints before it are copied
    int64_t definition;    // the version that the script had there
} ForkPlace;

static Status fork_place(Kernel *kernel, const Op *op, Run *source, ForkPlace *ret_place) {
    *ret_place = (ForkPlace){.definition = source->row.definition};
    bool is_flow = source->row.kind == RUN_FLOW;
    StepChoice step = op->in.fork.step;
    if (op->in.fork.is_retry) {
        return is_flow ? retry_point(kernel, source, &ret_place->point)
                       : retry_position(kernel, source, &ret_place->position);
    }
    if (str_is_null(step.name)) return OK;
    if (!is_flow) return step_find(kernel, &source->row, &step, &ret_place->position);
    TRY(flow_point_find(kernel, &source->row, &step, &ret_place->point));
    return definition_at(kernel, &source->row, ret_place->point.step_seq, &ret_place->definition);
}

// What was found out about the new version was found out from this very place. [create-6]
static Status fork_move(Kernel *kernel, const Op *op, const Run *source, ForkPlace *place) {
    const ForkVersion *version = &op->in.fork.version;
    if (version->definition == 0) return OK;
    bool is_same = source->row.kind == RUN_FLOW && place->definition == version->from &&
                   snapshot_digest(place->point.row.snapshot) == version->digest;
    if (!is_same) {
        return kernel_refuse(kernel, ERR_CONFLICT, "RUN_CHANGED",
                             "the run \"%.*s\" went on while it was looked at; ask again",
                             STR_ARG(source->row.id));
    }
    TRY(kernel_check_size(kernel, "the snapshot", version->snapshot, LIMIT_SNAPSHOT_SIZE));
    place->definition = version->definition;
    place->point.row.snapshot = version->snapshot;
    place->point.row.place = version->place;
    return OK;
}

static Status fork_note(Kernel *kernel, const Op *op, const Run *source, Run *run) {
    if (op->in.fork.is_retry) TRY(retry_note(kernel, run, source->row.id));
    if (op->in.fork.version.definition == 0) return OK;
    LogRow moved = {.kind = LOG_MOVED,
                    .position = NO_POSITION,
                    .iteration = op->in.fork.version.from,
                    .data = op->in.fork.version.note};
    return run_log(kernel, run, &moved);
}

static Status fork_fill(Kernel *kernel, const Op *op, Run *source, const ForkPlace *place,
                        Run *run) {
    TRY(fork_note(kernel, op, source, run));
    if (!str_is_null(source->row.task)) { // rows are what is copied
        TRY(embedded_give_row(kernel, source));
        TRY(run_store(kernel, source));
    }
    if (source->row.kind == RUN_FLOW) {
        TRY(flow_fork(kernel, source, run, &place->point));
    } else {
        TRY(checkpoints_copy(kernel, &source->row, run, place->position));
        run->row.log_seq = run->facts.last_seq;
    }
    return run_store(kernel, run);
}

Status apply_fork(Kernel *kernel, Op *op) {
    Run source;
    ForkPlace place;
    Str new_id = op->in.fork.new_id, input;
    bool is_named = !op->in.fork.is_retry || !str_is_null(new_id);
    if (is_named) TRY(kernel_check_name(kernel, "the run id", new_id, LIMIT_RUN_ID_SIZE));
    TRY(run_require(kernel, op->in.fork.run_id, &source));
    if (op->in.fork.is_retry) TRY(retry_check(kernel, &source));
    if (!is_named) {
        bool is_there;
        TRY(retry_id(kernel, &source, &new_id));
        TRY(retry_find(kernel, new_id, op, &is_there));
        if (is_there) return OK;
    }
    TRY(fork_place(kernel, op, &source, &place));
    TRY(fork_move(kernel, op, &source, &place));
    TRY(run_input(kernel, &source.row, &input));
    RunSpec spec = {.id = new_id,
                    .workflow = source.row.workflow,
                    .definition = place.definition,
                    .kind = source.row.kind,
                    .priority = source.row.priority,
                    .keep_ms = source.row.keep_ms,
                    .queue = source.row.queue,
                    .tags = source.row.tags,
                    .leftover_policy = source.row.leftover_policy,
                    .leftover_topic = source.row.leftover_topic};
    Run run = {.row = run_row_new(kernel, &spec, NULL)};
    TRY(run_set_ready(kernel, &run));
    Status status = run_insert(kernel, &run, input);
    if (status == ERR_CONFLICT) {
        kernel->counters[COUNTER_NEXT_KEY]--;
        return kernel_refuse(kernel, ERR_CONFLICT, "RUN_EXISTS", "there is a run \"%.*s\" already",
                             STR_ARG(new_id));
    }
    TRY(status);
    TRY(fork_fill(kernel, op, &source, &place, &run));
    op->out.fork.key = run.row.key;
    op->out.fork.is_new = true;
    op->out.fork.id = kernel_answer(kernel, new_id);
    return run_announce(kernel, &run, (Resolved){0});
}
