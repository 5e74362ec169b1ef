// Reading a filter.
//
// A term is a field, an operator and values, or a word alone. A word that has an operator in it
// must begin with a field: so a mistyped field is an error with a suggestion, not a search for a
// text that no run has. Quotes make any text a value.
//
// Not here: which runs a term finds (match.c).
#include "base/array.h"
#include "base/text/number.h"
#include "base/text/suggest.h"
#include "base/time/duration.h"
#include "engine/runners/runner.h"
#include "json/validate.h"
#include "server/filter/filter.h"
#include <stdio.h>

enum {
    CAN_BE = 1 << FILTER_IS,
    CAN_CONTAIN = 1 << FILTER_HAS,
    CAN_COMPARE = 1 << FILTER_ABOVE | 1 << FILTER_BELOW | 1 << FILTER_AT_LEAST | 1 << FILTER_AT_MOST
};

typedef struct FieldInfo {
    const char *name, *about;
    unsigned operators;
    const char *example;
} FieldInfo;

static const FieldInfo infos[FILTER_FIELD_COUNT] = {
    [FILTER_STATUS] = {"status", "state of the run", CAN_BE, "status:failed,paused"},
    [FILTER_WORKFLOW] = {"workflow", "name of the workflow", CAN_BE | CAN_CONTAIN,
                         "workflow:order"},
    [FILTER_VERSION] = {"version", "version of its workflow, or its first characters", CAN_BE,
                        "version:898154"},
    [FILTER_ID] = {"id", "id of the run", CAN_BE | CAN_CONTAIN, "id~order"},
    [FILTER_TAG] = {"tag", "one of its tags", CAN_BE | CAN_CONTAIN, "tag:eu"},
    [FILTER_PARENT] = {"parent", "id of the run that started it", CAN_BE, "parent:order-1"},
    [FILTER_WAITING] = {"waiting", "topic, signal, task or child that it waits for",
                        CAN_BE | CAN_CONTAIN, "waiting:approval"},
    [FILTER_AGE] = {"age", "time since it was created", CAN_COMPARE, "age>2h"},
    [FILTER_IDLE] = {"idle", "time since it became idle", CAN_COMPARE, "idle>1h"},
    [FILTER_CHANGED] = {"changed", "time since its state changed", CAN_COMPARE, "changed<5m"},
    [FILTER_CREATED] = {"created", "when it was created", CAN_COMPARE, "created>2026-11-16"},
    [FILTER_PRIORITY] = {"priority", "priority", CAN_BE | CAN_COMPARE, "priority>0"},
    [FILTER_ATTEMPT] = {"attempt", "attempt of the run", CAN_BE | CAN_COMPARE, "attempt>1"},
    [FILTER_LINE] = {"line", "line of the script at which it waits", CAN_BE | CAN_COMPARE,
                     "line:17"},
    [FILTER_STATE] = {"state.", "value that its script has set", CAN_BE, "state.customer=42"},
    [FILTER_ERROR] = {"error", "why it failed or is paused", CAN_BE | CAN_CONTAIN, "error~timeout"},
    [FILTER_WHERE] = {"where(", "an expression is true where it waits", CAN_BE,
                      "where(order.total > 100)"},
    [FILTER_TEXT] = {"text", "id, workflow or tag", CAN_CONTAIN, "order"},
};

const char *filter_field_name(FilterField field) { return infos[field].name; }
const char *filter_field_about(FilterField field) { return infos[field].about; }

const char *filter_operator_name(FilterOperator comparison) {
    static const char *const names[] = {":", "~", ">", "<", ">=", "<="};
    _Static_assert(COUNT_OF(names) == FILTER_OPERATOR_COUNT, "each has a name");
    return names[comparison];
}

typedef struct Reader {
    Arena *arena;
    Str text;
    size_t at;
    FilterFault *fault;
    Diag *diag;
} Reader;

// Says what is wrong with the bytes from `from` to where the reader stands.
static Status wrong(Reader *reader, size_t from, const char *did_you_mean, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static Status wrong(Reader *reader, size_t from, const char *did_you_mean, const char *format,
                    ...) {
    *reader->fault =
        (FilterFault){.at = from, .len = reader->at - from, .did_you_mean = did_you_mean};
    char what[DIAG_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (did_you_mean == NULL)
        return diag_set(reader->diag, ERR_INVALID, "BAD_FILTER", "at %zu: %s", from, what);
    return diag_set(reader->diag, ERR_INVALID, "BAD_FILTER", "at %zu: %s; did you mean \"%s\"?",
                    from, what, did_you_mean);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool has_more(const Reader *reader) { return reader->at < reader->text.len; }
static char here(const Reader *reader) { return reader->text.data[reader->at]; }

static Str since(const Reader *reader, size_t from) {
    return (Str){reader->text.data + from, reader->at - from};
}

// A text in quotes, at the first of them. Backslashes stand before quotes and backslashes.
static Status read_quoted(Reader *reader, Str *ret_text) {
    size_t from = reader->at++;
    char *text = arena_alloc(reader->arena, reader->text.len - from);
    size_t len = 0;
    while (has_more(reader) && here(reader) != '"') {
        if (here(reader) == '\\' && reader->at + 1 < reader->text.len) reader->at++;
        text[len++] = here(reader);
        reader->at++;
    }
    if (!has_more(reader)) return wrong(reader, from, NULL, "the quote is not closed");
    reader->at++;
    *ret_text = (Str){text, len};
    return OK;
}

// ---- fields and operators ----

static bool find_field(Str name, FilterField *ret_field) {
    for (int i = 0; i < FILTER_TEXT; i++) {
        if (i == FILTER_STATE || i == FILTER_WHERE || !str_equal(name, str_from(infos[i].name)))
            continue;
        *ret_field = (FilterField)i;
        return true;
    }
    return false;
}

static Status unknown_field(Reader *reader, size_t from, Str name) {
    Suggestion suggestion = {.wanted = name};
    for (int i = 0; i < FILTER_TEXT; i++) suggest(&suggestion, infos[i].name);
    return wrong(
        reader, from, suggestion.best,
        "there is no field \"%.*s\" (a text with \":\", \"=\", \"~\", \"<\" or \">\" in it "
        "is searched for in quotes)",
        STR_ARG(name));
}

static bool read_operator(Reader *reader, FilterOperator *ret_operator) {
    bool has_equals = reader->at + 1 < reader->text.len && reader->text.data[reader->at + 1] == '=';
    switch (here(reader)) {
    case ':':
    case '=': *ret_operator = FILTER_IS; break;
    case '~': *ret_operator = FILTER_HAS; break;
    case '>': *ret_operator = has_equals ? FILTER_AT_LEAST : FILTER_ABOVE; break;
    case '<': *ret_operator = has_equals ? FILTER_AT_MOST : FILTER_BELOW; break;
    default: return false;
    }
    bool is_long = *ret_operator == FILTER_AT_LEAST || *ret_operator == FILTER_AT_MOST;
    reader->at += is_long ? 2 : 1;
    return true;
}

static Status check_operator(Reader *reader, const FilterTerm *term, size_t from) {
    const FieldInfo *info = &infos[term->field];
    if (info->operators & 1u << term->comparison) return OK;
    return wrong(reader, from, info->example, "\"%s\" does not go with %s",
                 filter_operator_name(term->comparison), info->name);
}

// ---- values ----

static Status read_status(Reader *reader, FilterTerm *term, size_t from, Str value) {
    Suggestion suggestion = {.wanted = value};
    for (int64_t state = RUN_PENDING; state < RUN_STATE_COUNT; state++) {
        if (str_equal(value, str_from(run_state_name(state)))) {
            term->states |= 1u << state;
            return OK;
        }
        suggest(&suggestion, run_state_name(state));
    }
    return wrong(reader, from, suggestion.best, "there is no status \"%.*s\"", STR_ARG(value));
}

static Status read_moment(Reader *reader, FilterTerm *term, size_t from, Str value) {
    Diag diag;
    Str whole = value.len == strlen("2026-11-16")
                    ? arena_printf(reader->arena, "%.*sT00:00:00Z", STR_ARG(value))
                    : value;
    if (instant_parse(whole, &term->number, &diag) == OK) return OK;
    return wrong(reader, from, NULL, "\"%.*s\" is not a time such as 2026-11-16T04:25:09Z or a day",
                 STR_ARG(value));
}

static Status read_whole_number(Reader *reader, FilterTerm *term, size_t from, Str value) {
    bool is_below_zero = value.len > 1 && value.data[0] == '-';
    Str digits = {value.data + is_below_zero, value.len - is_below_zero};
    if (!number_parse_count(digits, INT32_MAX, &term->number))
        return wrong(reader, from, NULL, "\"%.*s\" is not a whole number", STR_ARG(value));
    if (is_below_zero) term->number = -term->number;
    return OK;
}

static Status check_value(Reader *reader, FilterTerm *term, size_t from, Str value) {
    Diag diag;
    switch (term->field) {
    case FILTER_STATUS: return read_status(reader, term, from, value);
    case FILTER_AGE:
    case FILTER_IDLE:
    case FILTER_CHANGED:
        if (duration_parse(value, &term->number, &diag) == OK) return OK;
        return wrong(reader, from, NULL, "\"%.*s\" is not a duration such as 30s, 5m, 2h or 7d",
                     STR_ARG(value));
    case FILTER_CREATED: return read_moment(reader, term, from, value);
    case FILTER_PRIORITY:
    case FILTER_LINE:
    case FILTER_ATTEMPT: return read_whole_number(reader, term, from, value);
    default: return OK;
    }
}

static Status read_value(Reader *reader, FilterTerm *term) {
    size_t from = reader->at;
    bool is_quoted = has_more(reader) && here(reader) == '"';
    Str value;
    if (is_quoted) {
        TRY(read_quoted(reader, &value));
    } else {
        while (has_more(reader) && here(reader) != ',' && !is_blank(here(reader))) reader->at++;
        value = since(reader, from);
        if (value.len == 0)
            return wrong(reader, from, infos[term->field].example, "a value is missing");
    }
    TRY(check_value(reader, term, from, value));
    if (term->field == FILTER_STATE) {
        Diag diag;
        bool is_json = !is_quoted && json_validate(value, &diag) == OK;
        if (!is_json) value = json_quote(reader->arena, value);
    }
    term->values[term->count++] = value;
    return OK;
}

static Status read_values(Reader *reader, FilterTerm *term) {
    size_t from = reader->at;
    bool is_list = term->comparison == FILTER_IS || term->comparison == FILTER_HAS;
    bool is_number = term->field == FILTER_PRIORITY || term->field == FILTER_ATTEMPT ||
                     term->field == FILTER_LINE;
    bool is_one = !is_list || is_number;
    term->values = ARENA_ARRAY(reader->arena, Str, FILTER_VALUES_MAX);
    do {
        if (term->count == FILTER_VALUES_MAX)
            return wrong(reader, from, NULL, "more than %d values", FILTER_VALUES_MAX);
        if (term->count > 0) reader->at++; // the comma
        TRY(read_value(reader, term));
        if (is_one && has_more(reader) && here(reader) == ',')
            return wrong(reader, from, NULL, "%s takes one value here", infos[term->field].name);
    } while (has_more(reader) && here(reader) == ',');
    if (has_more(reader) && !is_blank(here(reader)))
        return wrong(reader, reader->at, NULL, "a blank is missing after the quote");
    return OK;
}

// ---- terms ----

static Status read_state_key(Reader *reader, FilterTerm *term) {
    size_t from = reader->at;
    if (has_more(reader) && here(reader) == '"') return read_quoted(reader, &term->key);
    while (has_more(reader) && !is_blank(here(reader)) && strchr(":=~<>", here(reader)) == NULL)
        reader->at++;
    term->key = since(reader, from);
    if (term->key.len == 0) return wrong(reader, from, "state.KEY=VALUE", "a key is missing");
    return OK;
}

static Status read_condition(Reader *reader, FilterTerm *term) {
    size_t from = reader->at;
    if (!has_more(reader) || !read_operator(reader, &term->comparison))
        return wrong(reader, from, infos[term->field].example, "an operator is missing");
    TRY(check_operator(reader, term, from));
    return read_values(reader, term);
}

size_t filter_close(Str text, size_t at) {
    int depth = 1;
    char quote = 0;
    for (size_t i = at; i < text.len; i++) {
        char c = text.data[i];
        if (quote != 0) {
            if (c == '\\') i++;
            else if (c == quote) quote = 0;
        } else if (c == '"' || c == '\'' || c == '`') quote = c;
        else if (c == '(') depth++;
        else if (c == ')' && --depth == 0) return i + 1;
    }
    return 0;
}

// where(EXPRESSION): what is between the parentheses is the language of scripts.
static Status read_where(Reader *reader, FilterTerm *term) {
    size_t from = reader->at, inside = from + strlen("where("),
           end = filter_close(reader->text, inside);
    Diag diag;
    reader->at = end > 0 ? end : reader->text.len;
    if (end == 0) return wrong(reader, from, NULL, "the parenthesis of where( is not closed");
    if (has_more(reader) && !is_blank(here(reader)))
        return wrong(reader, reader->at, NULL, "a blank is missing after where(…)");
    term->field = FILTER_WHERE;
    term->comparison = FILTER_IS;
    term->values = ARENA_ARRAY(reader->arena, Str, 1);
    term->values[0] = (Str){reader->text.data + inside, end - 1 - inside};
    term->count = 1;
    if (where_check(term->values[0], &diag) != OK)
        return wrong(reader, inside, NULL, "%s", diag.message);
    return OK;
}

static Status read_word(Reader *reader, FilterTerm *term, Str word) {
    term->field = FILTER_TEXT;
    term->comparison = FILTER_HAS;
    term->values = ARENA_ARRAY(reader->arena, Str, 1);
    term->values[0] = word;
    term->count = 1;
    if (word.len == 0) return wrong(reader, term->from, NULL, "a text is missing");
    if (has_more(reader) && !is_blank(here(reader)))
        return wrong(reader, reader->at, NULL, "a blank is missing after the quote");
    return OK;
}

static Status read_term(Reader *reader, FilterTerm *term) {
    if (here(reader) == '-') {
        term->is_negated = true;
        reader->at++;
    }
    size_t from = reader->at;
    Str word;
    if (has_more(reader) && here(reader) == '"') {
        TRY(read_quoted(reader, &word));
        return read_word(reader, term, word);
    }
    Str left = {reader->text.data + from, reader->text.len - from};
    if (str_starts_with(left, STR("where("))) return read_where(reader, term);
    if (str_starts_with(left, STR("state."))) {
        term->field = FILTER_STATE;
        reader->at += strlen("state.");
        TRY(read_state_key(reader, term));
        return read_condition(reader, term);
    }
    while (has_more(reader) && !is_blank(here(reader)) && strchr(":=~<>\"", here(reader)) == NULL)
        reader->at++;
    word = since(reader, from);
    if (!has_more(reader) || is_blank(here(reader))) return read_word(reader, term, word);
    if (!find_field(word, &term->field)) return unknown_field(reader, from, word);
    return read_condition(reader, term);
}

Status filter_parse(Arena *arena, Str text, Filter *ret_filter, FilterFault *ret_fault,
                    Diag *diag) {
    *ret_filter = (Filter){ARENA_ARRAY(arena, FilterTerm, FILTER_TERMS_MAX), 0};
    *ret_fault = (FilterFault){0};
    Reader reader = {arena, text, 0, ret_fault, diag};
    if (text.len > FILTER_SIZE_MAX) {
        reader.at = text.len;
        return wrong(&reader, FILTER_SIZE_MAX, NULL, "a filter has at most %d bytes",
                     FILTER_SIZE_MAX);
    }
    for (;;) {
        while (has_more(&reader) && is_blank(here(&reader))) reader.at++;
        if (!has_more(&reader)) return OK;
        size_t from = reader.at;
        if (ret_filter->count == FILTER_TERMS_MAX) {
            reader.at = text.len;
            return wrong(&reader, from, NULL, "a filter has at most %d terms", FILTER_TERMS_MAX);
        }
        FilterTerm *term = &ret_filter->terms[ret_filter->count];
        term->from = from;
        TRY(read_term(&reader, term));
        term->to = reader.at;
        ret_filter->count++;
    }
}
