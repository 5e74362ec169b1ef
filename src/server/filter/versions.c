// Which version a run has, and at which line of it a run stands.
//
// Both follow from numbers in the run's row, so many runs share an answer: each is found out once
// and kept while one request looks at runs. What is found out is counted as a read [filter-1].
//
// Not here: what the terms mean (match.c).
#include "flow/snapshot/place.h"
#include "model/snapshot.h"
#include "server/filter/filter.h"
#include "store/reads.h"

void filter_versions_init(FilterVersions *self, abide_engine *engine) {
    *self = (FilterVersions){.store = engine_store(engine)};
    modules_init(&self->modules, self->store);
    map_init(&self->by_definition);
    arena_init(&self->arena);
}

void filter_versions_done(FilterVersions *self) {
    modules_done(&self->modules);
    map_done(&self->by_definition);
    arena_done(&self->arena);
}

Status filter_find_version(FilterVersions *self, const RunRow *run, Str *ret_version, Diag *diag) {
    *ret_version = STR_NULL;
    if (run->definition == 0) return OK;
    const Str *known = map_get(&self->by_definition, (uint64_t)run->definition);
    if (known == NULL) {
        DefinitionRow row;
        self->read_count++;
        Str *version = ARENA_NEW(&self->arena, Str);
        Status status =
            store_definition_by_key(self->store, &self->arena, run->definition, &row, diag);
        if (status != OK && status != ERR_NOT_FOUND) return status;
        *version = status == OK ? row.version : STR_NULL;
        (void)map_put(&self->by_definition, (uint64_t)run->definition, version);
        known = version;
    }
    *ret_version = *known;
    return OK;
}

// The same runs that the store counts at places [snapshot-4].
static bool stands_somewhere(const RunRow *run) {
    bool is_held = run->state == RUN_PAUSED && run->paused_state == RUN_SUSPENDED;
    bool is_counted = is_held || run->state == RUN_SUSPENDED || run->state == RUN_FAILED;
    return run->kind == RUN_FLOW && is_counted && run->place != PLACE_UNKNOWN;
}

static Status read_line(FilterVersions *self, const RunRow *run, int64_t *ret_line, Diag *diag) {
    FlowModule *module;
    FlowPlace place;
    Status status = modules_get(&self->modules, run->definition, &module, diag);
    if (status == ERR_UNAVAILABLE) return status;
    *ret_line = FILTER_NO_LINE; // nobody can say, whatever the reason
    if (status != OK) return OK;
    ArenaMark mark = arena_mark(&self->arena);
    if (flow_module_place(module, run->place, &self->arena, &place)) *ret_line = place.line;
    arena_rewind(&self->arena, mark);
    return OK;
}

Status filter_find_line(FilterVersions *self, const RunRow *run, int64_t *ret_line, Diag *diag) {
    *ret_line = FILTER_NO_LINE;
    if (!stands_somewhere(run)) return OK;
    *ret_line = 0;
    if (run->place == PLACE_START) return OK;
    uint64_t mixed =
        (uint64_t)run->place * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)run->definition;
    FilterLine *memo = &self->lines[mixed % FILTER_LINES_KEPT];
    if (memo->definition != run->definition || memo->place != run->place) {
        int64_t line;
        self->read_count++;
        TRY(read_line(self, run, &line, diag));
        *memo = (FilterLine){run->definition, run->place, line};
    }
    *ret_line = memo->line;
    return OK;
}
