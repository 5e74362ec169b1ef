// Loading: from rows to resident runs.
//
// A run is loaded just before it is executed, so that many ready runs do not fill the memory; and
// with the others that are about to be, so that they share a read.
//
// Invariants [loading-1]-[loading-3] are in loading.h.
//
// Not here: how a run executes (coordinator/dispatch.c), what is read (store/reads).
#include "engine/residents/loading.h"
#include "base/assert.h"
#include "base/limits.h"
#include "store/reads.h"

void loading_init(Loading *self, const CoordinatorSetup *setup, const Commits *commits,
                  Residents *residents) {
    *self = (Loading){
        .setup = setup,
        .commits = commits,
        .residents = residents,
        .most = LOAD_RUNS_FIRST,
        .adopt_at_ms = NEVER_MS,
    };
    arena_init(&self->scratch);
}

void loading_done(Loading *self) { arena_done(&self->scratch); }

// [loading-4] The checkpoints of a function, as they are stored: one for each position. Of code,
// failed attempts of steps are checkpoints too.
static bool is_whole(const RunLoad *load) {
    int64_t position = 0;
    if (load->run.kind == RUN_FLOW) return true;
    for (size_t i = 0; i < load->log_count; i++) {
        const LogRow *entry = &load->log[i];
        if (!log_has_position(entry)) continue;
        if (entry->position != position) return false;
        if (entry->kind != LOG_STEP_ATTEMPT || load->run.kind == RUN_CODE) position++;
    }
    return true;
}

// Replaces what is in memory by what the store says.
static LoadAnswer take(Loading *self, ResidentRun *run, const RunLoadReply *reply, Diag *diag) {
    ASSERT(run != NULL && run->key == reply->key && run->phase == PHASE_READY);
    if (reply->status == ERR_CORRUPT) {
        *diag = reply->diag;
        return LOAD_BROKEN;
    }
    const RunRow *row = &reply->load.run;
    bool is_ours = reply->status == OK && row->state == RUN_RUNNING &&
                   row->owner == self->commits->node; // [loading-2]
    if (is_ours && !is_whole(&reply->load)) {
        (void)diag_set(diag, ERR_CORRUPT, "STORE_CORRUPT",
                       "the log of the run \"%.*s\" lacks a checkpoint", STR_ARG(row->id));
        return LOAD_BROKEN;
    }
    uint64_t woken_ns = run->woken_ns;
    bool was_evicted = residents_take_evicted(self->residents, run->key);
    bool is_reloaded =
        run->is_reloaded || (is_ours && run->is_absent && !was_evicted && row->epoch > FIRST_EPOCH);
    residents_remove(self->residents, run);
    if (!is_ours) return LOAD_GONE;
    run = residents_add(self->residents, row, reply->load.input, reply->load.parent_id);
    run->woken_ns = woken_ns;
    run->is_reloaded = is_reloaded;
    for (size_t i = 0; i < reply->load.log_count; i++)
        resident_add_entry(self->residents, run, &reply->load.log[i]);
    return LOAD_DONE;
}

// [loading-3] As many as were small enough so far, and twice as many next time.
static void follow_size(Loading *self) {
    bool is_large = self->scratch.used_size > LOAD_SIZE;
    if (is_large && self->most > 1) self->most /= 2;
    else if (!is_large && 2 * self->most <= LOAD_RUNS_MAX) self->most *= 2;
}

// The runs with those keys; some may come with the next call.
static void load(Loading *self, RunKeys keys) {
    Diag diag;
    RunLoads loads = {0};
    ASSERT(keys.count > 0 && keys.count <= LOAD_RUNS_MAX); // [loading-1]
    Status status = store_load_runs(self->setup->store, &self->scratch, keys, &loads, &diag);
    if (status != OK)
        LOG(self->setup->logger, LOG_ERROR, "loading %zu runs: %s", keys.count, diag.message);
    for (size_t i = 0, place = 0; i < loads.count; i++) {
        const RunLoadReply *reply = &loads.replies[i];
        while (self->runs[place].key != reply->key) place++; // both are in the same order
        LoadedRun *loaded = &self->runs[place];
        ResidentRun *run = residents_get(self->residents, reply->key);
        loaded->answer = take(self, run, reply, &loaded->diag);
    }
    follow_size(self);
    arena_reset(&self->scratch);
}

const LoadedRun *loading_next(Loading *self, size_t max, size_t *ret_count) {
    int64_t keys[LOAD_RUNS_MAX], stale[LOAD_RUNS_MAX];
    size_t stale_count = 0;
    if (max > self->most) max = self->most;
    size_t count = residents_first(self->residents, PHASE_READY, max, keys);
    for (size_t i = 0; i < count; i++) {
        bool is_stale = residents_get(self->residents, keys[i])->is_stale;
        self->runs[i].key = keys[i];
        self->runs[i].answer = is_stale ? LOAD_LATER : LOAD_DONE;
        if (is_stale) stale[stale_count++] = keys[i];
    }
    if (stale_count > 0) load(self, (RunKeys){stale, stale_count}); // [loading-1]
    *ret_count = count;
    return self->runs;
}

void loading_adopt_later(Loading *self, int64_t at_ms) { self->adopt_at_ms = at_ms; }

int64_t loading_adopts_at_ms(const Loading *self) {
    return self->has_unadopted ? 0 : self->adopt_at_ms;
}

void loading_adopt(Loading *self) {
    OwnedFilter filter = {.node = self->commits->node, .page.limit = LIMIT_ADOPT_ROWS};
    bool is_last = false;
    self->has_unadopted = true;
    self->adopt_at_ms = NEVER_MS;
    while (!is_last) {
        RunPage page;
        Diag diag;
        if (store_list_owned(self->setup->store, &self->scratch, &filter, &page, &diag) != OK)
            break;
        is_last = page.next == 0; // a page may be short although there are more
        self->has_unadopted = !is_last;
        filter.page.after = page.next;
        for (size_t i = 0; i < page.count; i++) {
            const RunRow *row = &page.rows[i];
            if (residents_get(self->residents, row->key) != NULL) continue;
            ResidentRun *run = residents_add(self->residents, row, STR_NULL, STR_NULL);
            run->is_stale = run->is_absent = true;
        }
        arena_reset(&self->scratch);
    }
    arena_reset(&self->scratch);
}

bool loading_is_owned(Loading *self, int64_t run, int64_t epoch) {
    RunRow row;
    Diag diag;
    Status status = store_run_by_key(self->setup->store, &self->scratch, run, &row, &diag);
    bool is_owned = status != ERR_NOT_FOUND;
    if (status == OK)
        is_owned =
            row.state == RUN_RUNNING && row.epoch == epoch && row.owner == self->commits->node;
    arena_reset(&self->scratch);
    return is_owned;
}
