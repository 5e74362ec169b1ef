// Filter: text that describes runs, "status:failed workflow:order age>2h error~timeout".
//
// Terms are separated by blanks and all must hold; "-" before one negates it. The store's indexes
// answer what they can (filter_push); the rest is checked run by run, with a budget per request.
//
//   [filter-1] What a filter costs is bounded by FILTER_RUNS_MAX and FILTER_READS_MAX, whatever it
//        says and however many runs there are; a cursor continues where a request stopped.
//   [filter-2] A run is found exactly if every term holds, whether a term was pushed into the store
//        or checked here.
#pragma once
#include "api/engine.h"
#include "base/containers/map.h"
#include "engine/definitions/modules.h"
#include "engine/where/where.h"
#include "json/write.h"
#include "store/reads.h"

enum {
    FILTER_SIZE_MAX = 2000, // bytes of the text
    FILTER_TERMS_MAX = 32,  // of one filter
    FILTER_VALUES_MAX = 32, // of one term
    FILTER_RUNS_MAX = 4000, // looked at for one request
    FILTER_READS_MAX = 400, // of errors and states, for one request
    FILTER_COMPLETIONS_MAX = 50,
    FILTER_VERSION_SIZE_MIN = 6, // of the beginning of a version
    FILTER_LINES_KEPT = 256,     // in memory, for one request
    FILTER_NO_LINE = -1          // a run that does not stand anywhere
};

typedef enum FilterField {
    FILTER_STATUS,
    FILTER_WORKFLOW,
    FILTER_VERSION,
    FILTER_ID,
    FILTER_TAG,
    FILTER_PARENT,
    FILTER_WAITING,
    FILTER_AGE,
    FILTER_IDLE,
    FILTER_CHANGED,
    FILTER_CREATED,
    FILTER_PRIORITY,
    FILTER_ATTEMPT,
    FILTER_LINE,
    FILTER_STATE, // with a key
    FILTER_ERROR,
    FILTER_WHERE, // one value: an expression
    FILTER_TEXT,  // a word without a field
    FILTER_FIELD_COUNT
} FilterField;

typedef enum FilterOperator {
    FILTER_IS,  // ":" or "="
    FILTER_HAS, // "~"
    FILTER_ABOVE,
    FILTER_BELOW,
    FILTER_AT_LEAST,
    FILTER_AT_MOST,
    FILTER_OPERATOR_COUNT
} FilterOperator;

typedef struct FilterTerm {
    size_t from, to; // its bytes in the text
    FilterField field;
    FilterOperator comparison;
    bool is_negated;
    Str key;     // FILTER_STATE
    Str *values; // one or more; of FILTER_STATE valid JSON
    size_t count;
    uint32_t states; // FILTER_STATUS: bits (1 << RunState)
    int64_t number;  // durations and instants in ms, priorities, attempts, lines
    bool is_pushed;  // filter_push gave it to the store
} FilterTerm;

typedef struct Filter {
    FilterTerm *terms;
    size_t count;
} Filter;

typedef struct FilterFault { // where and why a filter is wrong
    size_t at, len;
    const char *did_you_mean; // NULL = nothing is near
} FilterFault;

// Reads the terms up to the first fault: *ret_filter is written in any case. Texts live in the
// arena or in `text`. Code: BAD_FILTER.
MUST_CHECK Status filter_parse(Arena *arena, Str text, Filter *ret_filter, FilterFault *ret_fault,
                               Diag *diag);
const char *filter_field_name(FilterField field); // "status"; "state.", "where(", "text"
const char *filter_field_about(FilterField field);
const char *filter_operator_name(FilterOperator comparison);
// The byte behind the parenthesis that closes the one before `at`, or 0 when none does. Those in
// strings do not count.
size_t filter_close(Str text, size_t at);

// ---- complete.c ----

typedef struct FilterCompletion {
    size_t from, to; // bytes of the text that it replaces
    Str text;
    const char *about;
} FilterCompletion;

typedef struct FilterCompletions {
    FilterCompletion items[FILTER_COMPLETIONS_MAX];
    size_t count;
} FilterCompletions;

// Whether the names of workflows are needed to complete what stands at byte `at`.
bool filter_wants_workflows(Str text, size_t at);
typedef struct FilterCursor {
    Str text;
    size_t at;            // a byte of it, or its end
    const Str *workflows; // names that exist
    size_t workflow_count;
} FilterCursor;
// What may stand at the cursor.
void filter_complete(Arena *arena, const FilterCursor *cursor, FilterCompletions *ret_completions);

// ---- search.c ----

typedef struct FilterSearch {
    abide_engine *engine;
    Filter filter;  // no terms: any run
    RunFilter runs; // further conditions, cursor, limit and size_max
} FilterSearch;

typedef struct FilterFound {
    RunRow *rows; // in the arena, without snapshots
    size_t count;
    int64_t next;      // cursor; 0 = there are no more
    int64_t looked_at; // runs
    bool has_where;    // a term where(…) was there:
    WherePage where;   // its counts
} FilterFound;

// Whether the state of that value is hidden by config.secret, so that nobody may search for it.
bool filter_hides(abide_engine *engine, Arena *arena, const RunFilter *runs);
// Newest first. [filter-1]
MUST_CHECK Status filter_search(FilterSearch *search, Arena *arena, FilterFound *ret_found,
                                Diag *diag);

// ---- versions.c ----

typedef struct FilterLine { // where runs of a definition stand that have this place
    int64_t definition, place, line;
} FilterLine;

typedef struct FilterVersions { // what was found out for one request
    Store *store;
    Modules modules;
    Map by_definition; // definition -> Str, its version
    Arena arena;
    int64_t read_count;
    FilterLine lines[FILTER_LINES_KEPT];
} FilterVersions;

void filter_versions_init(FilterVersions *self, abide_engine *engine);
void filter_versions_done(FilterVersions *self);
// Null: the run has none.
MUST_CHECK Status filter_find_version(FilterVersions *self, const RunRow *run, Str *ret_version,
                                      Diag *diag);
// The line at which the innermost function waits, of a failed run at which its last turn began;
// 0 = it had not come to an await; FILTER_NO_LINE.
MUST_CHECK Status filter_find_line(FilterVersions *self, const RunRow *run, int64_t *ret_line,
                                   Diag *diag);

// ---- match.c ----

typedef struct FilterLook { // what is needed to check runs one by one
    abide_engine *engine;
    int64_t now_ms;
    int64_t read_count; // questions to the store so far, without those of `versions`
    Arena scratch;      // of one run
    FilterVersions versions;
} FilterLook;

// Gives the store what it has an index or a condition for, and marks those terms. Only conditions
// that `runs` does not have yet are given.
void filter_push(Filter *filter, Arena *arena, int64_t now_ms, RunFilter *runs);
// Whether all terms hold that were not pushed.
MUST_CHECK Status filter_match(FilterLook *look, const Filter *filter, const RunRow *run,
                               bool *ret_is_match, Diag *diag);
// The error of a run that failed, was cancelled or is paused; null texts = it has none.
typedef struct RunErrorText {
    Str name, code, message, stack;
    Str cause; // name and message of what caused it
} RunErrorText;
// Reads an error object; what it does not have stays null.
void filter_parse_error(Arena *arena, Str json, RunErrorText *ret_error);
MUST_CHECK Status filter_read_error(abide_engine *engine, Arena *arena, const RunRow *run,
                                    RunErrorText *ret_error, Diag *diag);
