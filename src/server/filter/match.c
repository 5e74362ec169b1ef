// Which runs a term finds: what the store can be asked for, and the rest, run by run.
//
//   [filter-match-1] A term is pushed only if the store's condition means exactly the same;
//        otherwise it is checked here, and what follows from it about states narrows the walk.
//
// Not here: reading filters (parse.c), pages (search.c).
#include "base/array.h"
#include "model/trace.h"
#include "model/waits.h"
#include "server/filter/filter.h"

// ---- pushing ----

static const uint32_t all_states = ((1u << RUN_STATE_COUNT) - 1) & ~1u;
enum { NO_STATE = 1 }; // the bit of no state: nothing is found

static void narrow_states(RunFilter *runs, uint32_t states) {
    uint32_t left = (runs->states == 0 ? all_states : runs->states) & states;
    runs->states = left == 0 ? NO_STATE : left;
}

static Str join(Arena *arena, const FilterTerm *term) {
    Str joined = term->values[0];
    for (size_t i = 1; i < term->count; i++)
        joined = arena_printf(arena, "%.*s\n%.*s", STR_ARG(joined), STR_ARG(term->values[i]));
    return joined;
}

static bool has_line_end(const FilterTerm *term) {
    for (size_t i = 0; i < term->count; i++)
        if (term->values[i].len > 0 && memchr(term->values[i].data, '\n', term->values[i].len))
            return true;
    return false;
}

// A list of the store's filter, if it is free.
static bool push_list(Arena *arena, const FilterTerm *term, Str *list) {
    if (!str_is_null(*list) || has_line_end(term)) return false;
    *list = join(arena, term);
    return true;
}

static bool push_one(const FilterTerm *term, Str *text) {
    if (!str_is_null(*text) || term->count != 1) return false;
    *text = term->values[0];
    return true;
}

static bool push_before(int64_t *before_ms, int64_t at_ms) {
    if (at_ms <= 0) return false; // 0 = any
    if (*before_ms == 0 || at_ms < *before_ms) *before_ms = at_ms;
    return true;
}

static bool push_after(int64_t *after_ms, int64_t at_ms) {
    if (at_ms <= 0) return false;
    if (at_ms > *after_ms) *after_ms = at_ms;
    return true;
}

static bool is_timer(Str name) { return str_equal(name, STR("timer")); }

// Terms that say ":".
static bool push_equal(Arena *arena, const FilterTerm *term, RunFilter *runs) {
    switch (term->field) {
    case FILTER_WORKFLOW: return push_list(arena, term, &runs->workflows);
    case FILTER_ID: return push_list(arena, term, &runs->ids);
    case FILTER_TAG: return push_one(term, &runs->tag);
    case FILTER_PARENT: return push_one(term, &runs->parent_id);
    case FILTER_WAITING: return !is_timer(term->values[0]) && push_one(term, &runs->waiting_on);
    case FILTER_STATE:
        if (!push_one(term, &runs->state_value)) return false;
        runs->state_key = term->key;
        return true;
    default: return false;
    }
}

// Terms that compare; only what is strictly before or after.
static bool push_compared(const FilterTerm *term, int64_t now_ms, RunFilter *runs) {
    bool is_above = term->comparison == FILTER_ABOVE, is_below = term->comparison == FILTER_BELOW;
    if (!is_above && !is_below) return false;
    if (term->field == FILTER_CREATED)
        return is_above ? push_after(&runs->created_after_ms, term->number)
                        : push_before(&runs->created_before_ms, term->number);
    int64_t at_ms = now_ms - term->number;
    if (term->field == FILTER_AGE)
        return is_above ? push_before(&runs->created_before_ms, at_ms)
                        : push_after(&runs->created_after_ms, at_ms);
    if (term->field == FILTER_IDLE && is_above) return push_before(&runs->idle_before_ms, at_ms);
    return false;
}

static bool push_term(FilterTerm *term, Arena *arena, int64_t now_ms, RunFilter *runs) {
    if (term->field == FILTER_STATUS) {
        narrow_states(runs, term->is_negated ? all_states & ~term->states : term->states);
        return true;
    }
    if (term->is_negated) return false;
    if (term->field == FILTER_ERROR)
        narrow_states(runs, 1u << RUN_FAILED | 1u << RUN_CANCELLED | 1u << RUN_PAUSED);
    if (term->field == FILTER_WAITING) narrow_states(runs, 1u << RUN_SUSPENDED);
    if (term->field == FILTER_LINE)
        narrow_states(runs, 1u << RUN_SUSPENDED | 1u << RUN_PAUSED | 1u << RUN_FAILED);
    if (term->comparison == FILTER_IS) return push_equal(arena, term, runs);
    return push_compared(term, now_ms, runs);
}

void filter_push(Filter *filter, Arena *arena, int64_t now_ms, RunFilter *runs) {
    for (size_t i = 0; i < filter->count; i++) {
        FilterTerm *term = &filter->terms[i];
        term->is_pushed = push_term(term, arena, now_ms, runs); // [filter-match-1]
    }
}

// ---- texts ----

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c; }

static bool contains(Str text, Str part) {
    for (size_t from = 0; from + part.len <= text.len; from++) {
        size_t i = 0;
        while (i < part.len && lower(text.data[from + i]) == lower(part.data[i])) i++;
        if (i == part.len) return true;
    }
    return false;
}

static bool text_fits(const FilterTerm *term, Str text) {
    if (str_is_null(text)) return false;
    for (size_t i = 0; i < term->count; i++) {
        if (term->comparison == FILTER_HAS ? contains(text, term->values[i])
                                           : str_equal(text, term->values[i]))
            return true;
    }
    return false;
}

static bool tags_fit(const FilterTerm *term, Str tags) {
    for (Str left = tags, tag; str_split(&left, '\n', &tag);)
        if (text_fits(term, tag)) return true;
    return false;
}

// ---- numbers ----

static bool number_fits(const FilterTerm *term, int64_t number) {
    switch (term->comparison) {
    case FILTER_ABOVE: return number > term->number;
    case FILTER_BELOW: return number < term->number;
    case FILTER_AT_LEAST: return number >= term->number;
    case FILTER_AT_MOST: return number <= term->number;
    default: return number == term->number;
    }
}

static bool duration_fits(const FilterTerm *term, int64_t now_ms, int64_t since_ms) {
    return since_ms != 0 && number_fits(term, now_ms - since_ms);
}

// ---- waits ----

static bool waits_fit(FilterLook *look, const FilterTerm *term, const RunRow *run) {
    WaitSet set;
    if (run->state != RUN_SUSPENDED || str_is_null(run->waits)) return false;
    if (wait_set_decode(&look->scratch, run->waits, &set) != OK) return false; // verify reports it
    for (size_t i = 0; i < set.count; i++) {
        const WaitItem *item = &set.items[i];
        bool has_name = item->kind != WAIT_TIMER && item->kind != WAIT_RETRY;
        if (has_name && (text_fits(term, item->name) || text_fits(term, item->label))) return true;
        if (!has_name && text_fits(term, STR("timer"))) return true;
    }
    return false;
}

// ---- errors and states: these are read ----

static Str member_text(const JsonValue *object, const char *name) {
    const JsonValue *value = json_member(object, str_from(name));
    return value != NULL && value->kind == JSON_KIND_STRING ? value->string : STR_NULL;
}

static Str error_name(const JsonValue *error) {
    Str name = member_text(error, "type");
    return str_is_null(name) ? member_text(error, "name") : name;
}

void filter_parse_error(Arena *arena, Str json, RunErrorText *ret_error) {
    RunErrorText *error = ret_error;
    *error = (RunErrorText){0};
    JsonValue *value;
    Diag diag;
    if (json_parse(arena, json, &value, &diag) != OK) return;
    *error = (RunErrorText){.name = error_name(value),
                            .code = member_text(value, "code"),
                            .message = member_text(value, "message"),
                            .stack = member_text(value, "stack")};
    const JsonValue *cause = json_member(value, STR("cause"));
    if (cause == NULL) cause = json_member(json_member(value, STR("value")), STR("cause"));
    if (cause == NULL || cause->kind != JSON_KIND_OBJECT) return;
    error->cause = arena_printf(arena, "%.*s: %.*s", STR_ARG(error_name(cause)),
                                STR_ARG(member_text(cause, "message")));
}

Status filter_read_error(abide_engine *engine, Arena *arena, const RunRow *run,
                         RunErrorText *ret_error, Diag *diag) {
    *ret_error = (RunErrorText){0};
    Str json = STR_NULL;
    if (run->state == RUN_PAUSED) {
        TRY(engine_pause_reason(engine, arena, run, &json, diag));
    } else if (run->state == RUN_FAILED || run->state == RUN_CANCELLED) {
        RunResult result;
        Status status =
            store_find_result(engine_store(engine), arena, run_of_key(run->key), &result, diag);
        if (status == ERR_NOT_FOUND) return OK; // it was removed meanwhile
        TRY(status);
        json = result.json;
    }
    json = mask_json(engine_mask(engine, run->definition), STR("error"), json, arena);
    if (!str_is_null(json)) filter_parse_error(arena, json, ret_error);
    return OK;
}

static Status error_fits(FilterLook *look, const FilterTerm *term, const RunRow *run,
                         bool *ret_is_match, Diag *diag) {
    RunErrorText error;
    *ret_is_match = false;
    if (run->state != RUN_PAUSED && run->state != RUN_FAILED && run->state != RUN_CANCELLED)
        return OK;
    look->read_count++;
    TRY(filter_read_error(look->engine, &look->scratch, run, &error, diag));
    *ret_is_match = text_fits(term, error.name) || text_fits(term, error.code);
    if (term->comparison == FILTER_HAS && !*ret_is_match)
        *ret_is_match = text_fits(term, error.message) || text_fits(term, error.cause);
    return OK;
}

static Status state_fits(FilterLook *look, const FilterTerm *term, const RunRow *run,
                         bool *ret_is_match, Diag *diag) {
    *ret_is_match = false;
    if (run->kind == RUN_NATIVE) return OK;
    look->read_count++;
    const StateRef which = {run_of_key(run->key), term->key};
    Str value;
    Status status =
        store_find_state(engine_store(look->engine), &look->scratch, &which, &value, diag);
    if (status == ERR_NOT_FOUND) return OK;
    TRY(status);
    *ret_is_match = text_fits(term, value);
    return OK;
}

static Status parent_fits(FilterLook *look, const FilterTerm *term, const RunRow *run,
                          bool *ret_is_match, Diag *diag) {
    RunRow parent;
    *ret_is_match = false;
    if (run->parent == 0) return OK;
    look->read_count++;
    Status status =
        store_run_by_key(engine_store(look->engine), &look->scratch, run->parent, &parent, diag);
    if (status == ERR_NOT_FOUND) return OK;
    TRY(status);
    *ret_is_match = text_fits(term, parent.id);
    return OK;
}

static Status version_fits(FilterLook *look, const FilterTerm *term, const RunRow *run,
                           bool *ret_is_match, Diag *diag) {
    Str version;
    *ret_is_match = false;
    TRY(filter_find_version(&look->versions, run, &version, diag));
    for (size_t i = 0; i < term->count && !*ret_is_match; i++) {
        Str wanted = term->values[i];
        bool is_part = wanted.len >= FILTER_VERSION_SIZE_MIN && str_starts_with(version, wanted);
        *ret_is_match = is_part || (!str_is_null(version) && str_equal(version, wanted));
    }
    return OK;
}

static Status line_fits(FilterLook *look, const FilterTerm *term, const RunRow *run,
                        bool *ret_is_match, Diag *diag) {
    int64_t line;
    TRY(filter_find_line(&look->versions, run, &line, diag));
    *ret_is_match = line != FILTER_NO_LINE && number_fits(term, line);
    return OK;
}

// ---- one run ----

static bool row_fits(FilterLook *look, const FilterTerm *term, const RunRow *run) {
    switch (term->field) {
    case FILTER_STATUS: return (term->states & 1u << run->state) != 0;
    case FILTER_WORKFLOW: return text_fits(term, run->workflow);
    case FILTER_ID: return text_fits(term, run->id);
    case FILTER_TAG: return tags_fit(term, tags_without_trace(run->tags));
    case FILTER_WAITING: return waits_fit(look, term, run);
    case FILTER_AGE: return duration_fits(term, look->now_ms, run->created_at_ms);
    case FILTER_IDLE: return duration_fits(term, look->now_ms, run->idle_since_ms);
    case FILTER_CHANGED: return duration_fits(term, look->now_ms, run->updated_at_ms);
    case FILTER_CREATED: return number_fits(term, run->created_at_ms);
    case FILTER_PRIORITY: return number_fits(term, run->priority);
    case FILTER_ATTEMPT: return number_fits(term, run->retries + 1);
    case FILTER_TEXT:
        return text_fits(term, run->id) || text_fits(term, run->workflow) ||
               tags_fit(term, tags_without_trace(run->tags));
    default: return false;
    }
}

static Status term_fits(FilterLook *look, const FilterTerm *term, const RunRow *run,
                        bool *ret_is_match, Diag *diag) {
    switch (term->field) {
    case FILTER_ERROR: return error_fits(look, term, run, ret_is_match, diag);
    case FILTER_STATE: return state_fits(look, term, run, ret_is_match, diag);
    case FILTER_PARENT: return parent_fits(look, term, run, ret_is_match, diag);
    case FILTER_VERSION: return version_fits(look, term, run, ret_is_match, diag);
    case FILTER_LINE: return line_fits(look, term, run, ret_is_match, diag);
    default: *ret_is_match = row_fits(look, term, run); return OK;
    }
}

static bool is_read(const FilterTerm *term) {
    return term->field == FILTER_ERROR || term->field == FILTER_STATE ||
           term->field == FILTER_PARENT || term->field == FILTER_VERSION ||
           term->field == FILTER_LINE;
}

Status filter_match(FilterLook *look, const Filter *filter, const RunRow *run, bool *ret_is_match,
                    Diag *diag) {
    *ret_is_match = true;
    arena_reset(&look->scratch);
    for (int pass = 0; pass < 2; pass++) { // what costs nothing first
        for (size_t i = 0; i < filter->count && *ret_is_match; i++) {
            const FilterTerm *term = &filter->terms[i];
            if (term->is_pushed || is_read(term) != (pass == 1)) continue;
            bool is_match;
            TRY(term_fits(look, term, run, &is_match, diag));
            *ret_is_match = is_match != term->is_negated;
        }
    }
    return OK;
}
