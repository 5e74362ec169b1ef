// Finding the runs that a filter describes, a page at a time.
//
// The store lists what it has conditions for; the rest is checked here, a small page of the store
// after the other, until the caller's page is full or the budget is spent [filter-1].
//
// Not here: what terms mean (match.c).
#include "server/filter/filter.h"

enum { SEARCH_PAGE = 200 };

static bool has_rest(const Filter *filter) {
    for (size_t i = 0; i < filter->count; i++)
        if (!filter->terms[i].is_pushed) return true;
    return false;
}

typedef struct Searching {
    FilterSearch *search;
    FilterLook look;
    Arena *arena;
    FilterFound *found;
    int64_t limit;
    size_t start_size; // of the arena
} Searching;

static bool is_spent(const Searching *searching) {
    size_t size_max = searching->search->runs.size_max;
    return searching->found->looked_at >= FILTER_RUNS_MAX ||
           searching->look.read_count + searching->look.versions.read_count >= FILTER_READS_MAX ||
           (size_max > 0 && searching->arena->used_size - searching->start_size > size_max);
}

// Goes through a page of the store; *ret_is_over says that no more is wanted.
static Status look_through(Searching *searching, const RunPage *page, bool *ret_is_over,
                           Diag *diag) {
    FilterFound *found = searching->found;
    for (size_t i = 0; i < page->count; i++) {
        const RunRow *run = &page->rows[i];
        bool is_match;
        found->looked_at++;
        TRY(filter_match(&searching->look, &searching->search->filter, run, &is_match, diag));
        if (is_match)
            row_copy(&tables[TABLE_RUNS], searching->arena, run, &found->rows[found->count++]);
        bool is_last = i + 1 == page->count;
        *ret_is_over = (int64_t)found->count == searching->limit || is_spent(searching);
        if (!*ret_is_over) continue;
        found->next = is_last ? page->next : run->key;
        return OK;
    }
    found->next = page->next;
    return OK;
}

static Status look_on(Searching *searching, Diag *diag) {
    RunFilter runs = searching->search->runs;
    runs.limit = SEARCH_PAGE;
    for (bool is_over = false; !is_over;) {
        Arena arena;
        arena_init(&arena);
        RunPage page;
        Store *store = engine_store(searching->search->engine);
        Status status = store_list_runs(store, &arena, &runs, &page, diag);
        if (status == OK) status = look_through(searching, &page, &is_over, diag);
        arena_done(&arena);
        TRY(status);
        bool is_cut =
            page.count < SEARCH_PAGE; // the store has spent its own budget, or that is all
        if (is_cut || searching->found->next == 0) return OK;
        runs.cursor = searching->found->next;
    }
    return OK;
}

// ---- with where(…) ----

static Status sift(void *context, const RunRow *run, bool *ret_is_taken, Diag *diag) {
    Searching *searching = context;
    searching->found->looked_at++;
    return filter_match(&searching->look, &searching->search->filter, run, ret_is_taken, diag);
}

static bool is_sieve_spent(void *context) { return is_spent(context); }

// All of them as one expression; null = there is none.
static Str join_where(Arena *arena, Filter *filter) {
    Str joined = STR_NULL;
    size_t count = 0;
    bool is_negated = false;
    for (size_t i = 0; i < filter->count; i++) {
        FilterTerm *term = &filter->terms[i];
        if (term->field != FILTER_WHERE) continue;
        term->is_pushed = true;
        is_negated |= term->is_negated;
        joined = arena_printf(arena, "%.*s%s%s(%.*s\n)", STR_ARG(joined), count++ > 0 ? " && " : "",
                              term->is_negated ? "!" : "", STR_ARG(term->values[0]));
    }
    if (count != 1 || is_negated) return joined;
    return (Str){joined.data + 1, joined.len - 3}; // as it was written, for messages
}

static Status search_where(Searching *searching, Str expression, Diag *diag) {
    FilterFound *found = searching->found;
    const WhereSieve sieve = {sift, is_sieve_spent, searching};
    const WhereQuery query = {searching->search->runs, expression, searching->look.now_ms, &sieve};
    Store *store = engine_store(searching->search->engine);
    TRY(where_list_runs(store, searching->arena, &query, &found->where, diag));
    found->has_where = true;
    found->rows = found->where.runs.rows;
    found->count = found->where.runs.count;
    found->next = found->where.runs.next;
    return OK;
}

bool filter_hides(abide_engine *engine, Arena *arena, const RunFilter *runs) {
    EngineMasks masks = engine_common_masks(engine, arena);
    Str shown = engine_hide(&masks, runs->state_key, runs->state_value, arena);
    return !str_equal(shown, runs->state_value);
}

// Whether a run is found by a value would tell the value.
static Status check_states(const FilterSearch *search, Arena *arena, Diag *diag) {
    for (size_t i = 0; i < search->filter.count; i++) {
        const FilterTerm *term = &search->filter.terms[i];
        if (term->field != FILTER_STATE) continue;
        for (size_t k = 0; k < term->count; k++) {
            const RunFilter wanted = {.state_key = term->key, .state_value = term->values[k]};
            if (!filter_hides(search->engine, arena, &wanted)) continue;
            return diag_set(diag, ERR_INVALID, "BAD_FILTER",
                            "config.secret of a workflow hides this value of state.%.*s: it "
                            "cannot be searched for",
                            STR_ARG(term->key));
        }
    }
    return OK;
}

Status filter_search(FilterSearch *search, Arena *arena, FilterFound *ret_found, Diag *diag) {
    *ret_found = (FilterFound){0};
    int64_t now_ms = engine_now_ms(search->engine);
    TRY(check_states(search, arena, diag));
    filter_push(&search->filter, arena, now_ms, &search->runs);
    Str expression = join_where(arena, &search->filter);
    if (str_is_null(expression) && !has_rest(&search->filter)) {
        RunPage page;
        TRY(store_list_runs(engine_store(search->engine), arena, &search->runs, &page, diag));
        *ret_found = (FilterFound){.rows = page.rows,
                                   .count = page.count,
                                   .next = page.next,
                                   .looked_at = (int64_t)page.count};
        return OK;
    }
    ret_found->rows = ARENA_ARRAY(arena, RunRow, (size_t)search->runs.limit);
    Searching searching = {.search = search,
                           .look = {.engine = search->engine, .now_ms = now_ms},
                           .arena = arena,
                           .found = ret_found,
                           .limit = search->runs.limit,
                           .start_size = arena->used_size};
    arena_init(&searching.look.scratch);
    filter_versions_init(&searching.look.versions, search->engine);
    Status status = str_is_null(expression) ? look_on(&searching, diag)
                                            : search_where(&searching, expression, diag);
    filter_versions_done(&searching.look.versions);
    arena_done(&searching.look.scratch);
    return status;
}
