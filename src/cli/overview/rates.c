// abide rates: how much happened, as a line of blocks per series.
//
// A line is as wide as a terminal has room for beside the names; several steps share a column then,
// and the highest of them is shown. Each line has its own scale, which stands behind it.
//
// Not here: what is counted (server/observe/rates.c).
#include "cli/groups.h"
#include "cli/verbs/verb.h"

enum { CHART_COLUMNS = 60, LEVELS = 8 };

static const TableColumn columns[] = {{"SERIES", false, false},
                                      {"CHART", false, true},
                                      {"HIGHEST", true, false},
                                      {"LAST", true, false}};

static bool number_of(const JsonValue *value, double *ret_number) {
    if (value == NULL || value->kind != JSON_KIND_NUMBER) return false;
    *ret_number = value->number;
    return true;
}

static double highest_of(const JsonValue *series) {
    double highest = 0, number;
    JSON_EACH (value, series)
        if (number_of(value, &number) && number > highest) highest = number;
    return highest;
}

// One block: nothing is a low line, the highest a full block; a step nobody knows of is blank.
static void append_block(Buf *text, bool is_known, double value, double highest) {
    if (!is_known) {
        buf_append_char(text, ' ');
        return;
    }
    int level = highest > 0 ? (int)(value / highest * (LEVELS - 1) + 0.999) : 0;
    if (level >= LEVELS) level = LEVELS - 1;
    buf_append(text, "\xe2\x96", 2); // U+2581 … U+2588
    buf_append_char(text, (char)(0x81 + level));
}

static Str chart_of(Session *session, const JsonValue *series, double highest) {
    Buf text;
    buf_init(&text, 1 << 16);
    size_t width = (series->count + CHART_COLUMNS - 1) / CHART_COLUMNS, in_column = 0;
    bool is_known = false;
    double column = 0, number;
    JSON_EACH (value, series) {
        if (number_of(value, &number)) {
            column = is_known && column > number ? column : number;
            is_known = true;
        }
        if (++in_column < width && value->next != NULL) continue;
        append_block(&text, is_known, column, highest);
        in_column = 0;
        is_known = false;
    }
    Str chart = arena_str(&session->arena, buf_str(&text));
    buf_done(&text);
    return chart;
}

static const JsonValue *last_known(const JsonValue *series) {
    const JsonValue *last = NULL;
    double number;
    JSON_EACH (value, series)
        if (number_of(value, &number)) last = value;
    return last;
}

static void print_rates(VerbCall *call) {
    Session *session = &call->session;
    Str since = verb_text(call, "since"), step = verb_text(call, "step");
    if (str_is_null(since)) since = STR("1h");
    Str path = str_is_null(step) ? session_path(session, "/v1/rates?since=%s", since, STR_NULL)
                                 : session_path(session, "/v1/rates?since=%s&step=%s", since, step);
    if (!session_get(session, path) || !session_says_words(session, STR_NULL)) return;
    const JsonValue *answer = session->answer.json;
    const JsonValue *all = json_member(answer, STR("series"));
    TextTable out;
    table_init(&out, columns, 4);
    if (all != NULL)
        JSON_EACH (series, all) {
            double highest = highest_of(series);
            const JsonValue *last = last_known(series);
            table_add(&out, series->key);
            table_add(&out, chart_of(session, series, highest));
            table_add(&out, arena_printf(&session->arena, "%g", highest));
            table_add(&out, last != NULL ? last->raw : STR_NULL);
        }
    table_print(&out, stdout, session->terminal);
    table_done(&out);
    printf("from %.*s to %.*s, per %.*s\n", STR_ARG(field_text(answer, "from")),
           STR_ARG(field_text(answer, "to")),
           STR_ARG(output_duration(&session->arena, field_count(answer, "step_ms"))));
}

static const VerbOption options[] = {
    {"since", 0, "DURATION", "how far back, up to 24h; 1h unless given", VALUE_TEXT, VERB_OWN},
    {"step", 0, "DURATION", "how long a step is; the server chooses one unless given", VALUE_TEXT,
     VERB_OWN},
    {0}};

const Verb rates_verb = {
    .kind = VERB_CALL,
    .usage = "abide rates [options]",
    .about = "Shows how many runs and tasks started and ended in the last hours, what waits, and "
             "how fast runs are resumed.",
    .example = "abide rates --since 6h\nabide rates --since 1h --step 1m -o json",
    .options = options,
    .has_no_ids = true,
    .act = print_rates,
};
