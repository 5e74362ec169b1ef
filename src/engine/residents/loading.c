// Loading: from rows to resident runs.
//
// A run is loaded just before it is executed, so that many ready runs do not fill the memory; and
// with the others that are about to be, so that they share a read.
//
// Invariants [L1], [L2] are in loading.h.
//
// Not here: how a run executes (coordinator/dispatch.c), what is read (store/reads).
#include "engine/residents/loading.h"
#include "base/assert.h"
#include "base/limits.h"
#include "store/reads.h"

void loading_init(Loading *self, const CoordinatorSetup *setup, const Commits *commits,
                  Residents *residents) {
    *self = (Loading){
        .setup = setup, .commits = commits, .residents = residents, .adopt_at_ms = NEVER_MS};
    arena_init(&self->scratch);
}

void loading_done(Loading *self) { arena_done(&self->scratch); }

static Str load_parent_id(Loading *self, int64_t parent) {
    RunRow row;
    Diag diag;
    bool is_known = parent != 0 &&
                    store_run_by_key(self->setup->store, &self->scratch, parent, &row, &diag) == OK;
    return is_known ? row.id : STR_NULL;
}

// Replaces what is in memory by what the store says.
static LoadAnswer load(Loading *self, ResidentRun *run, Diag *diag) {
    RunLoad loaded;
    Status status = store_load_run(self->setup->store, &self->scratch, run->key, &loaded, diag);
    if (status == ERR_NOT_FOUND) return LOAD_GONE;
    if (status == ERR_CORRUPT) return LOAD_BROKEN;
    if (status != OK) {
        LOG(self->setup->logger, LOG_ERROR, "loading run %.*s: %s", STR_ARG(run->id),
            diag->message);
        return LOAD_LATER;
    }
    const RunRow *row = &loaded.run;
    if (row->state != RUN_RUNNING || row->owner != self->commits->node) return LOAD_GONE; // [L2]
    Str parent_id = load_parent_id(self, row->parent);
    uint64_t woken_ns = run->woken_ns;
    bool is_reloaded = run->is_reloaded || (run->is_absent && row->epoch > FIRST_EPOCH);
    residents_remove(self->residents, run);
    run = residents_add(self->residents, row, loaded.input, parent_id);
    run->woken_ns = woken_ns;
    run->is_reloaded = is_reloaded;
    for (size_t i = 0; i < loaded.log_count; i++)
        resident_add_entry(self->residents, run, &loaded.log[i]);
    return LOAD_DONE;
}

const LoadedRun *loading_next(Loading *self, size_t max, size_t *ret_count) {
    int64_t keys[LOAD_RUNS_MAX];
    if (max > LOAD_RUNS_MAX) max = LOAD_RUNS_MAX;
    size_t count = residents_first(self->residents, PHASE_READY, max, keys);
    for (size_t i = 0; i < count; i++) {
        LoadedRun *loaded = &self->runs[i];
        ResidentRun *run = residents_get(self->residents, keys[i]);
        loaded->key = keys[i];
        loaded->answer = run->is_stale ? load(self, run, &loaded->diag) : LOAD_DONE;
        if (loaded->answer == LOAD_GONE) residents_remove(self->residents, run);
        arena_reset(&self->scratch);
    }
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
