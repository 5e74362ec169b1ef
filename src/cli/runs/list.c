// abide wf ls: runs, newest first, by many kinds of filter.
//
// Times of filters are written as people think of them: a moment, or how long ago.
//
// Not here: pages and forms of output (list.c).
#include "base/array.h"
#include "cli/runs/wf.h"

// "signal approval, timer", as far as there is something to be said; of a paused one, why it is.
static Str waits_text(Session *session, const JsonValue *run) {
    const JsonValue *reason = json_member(run, STR("pause_reason"));
    if (reason != NULL && reason->kind == JSON_KIND_OBJECT)
        return arena_printf(&session->arena, "%.*s: %.*s", STR_ARG(field_text(reason, "type")),
                            STR_ARG(field_text(reason, "message")));
    const JsonValue *waits = json_member(run, STR("waits"));
    if (waits == NULL || waits->count == 0) return STR_NULL;
    Buf text;
    buf_init(&text, 1 << 16);
    size_t shown = 0;
    JSON_EACH (wait, waits) {
        if (shown++ == 3) {
            buf_printf(&text, " and %u more", waits->count - 3);
            break;
        }
        Str name = field_text(wait, "label"); // "task charge" says more than its id
        if (str_is_null(name)) name = field_text(wait, "name");
        buf_printf(&text, "%s%.*s%s%.*s", shown > 1 ? ", " : "", STR_ARG(field_text(wait, "on")),
                   str_is_null(name) ? "" : " ", STR_ARG(name));
    }
    Str answer = arena_str(&session->arena, buf_str(&text));
    buf_done(&text);
    return answer;
}

static const ListColumn columns[] = {
    {{"RUN", false, false}, "id", CELL_TEXT, NULL},
    {{"WORKFLOW", false, true}, "workflow", CELL_TEXT, NULL},
    {{"STATUS", false, false}, "status", CELL_STATUS, NULL},
    {{"WAITING ON", false, true}, "waits", CELL_TEXT, waits_text},
    {{"CREATED", false, false}, "created_at", CELL_AGE, NULL},
    {{"NEXT WAKE", false, false}, "next_wake_at", CELL_AGE, NULL},
};

static const VerbOption filters[] = {
    {"q", 'q', "FILTER", "a filter such as 'status:failed age>2h error~timeout'", VALUE_TEXT, 0},
    {"status", 's', "STATUS",
     "pending, running, suspended, paused, completed, failed, cancelled; several with commas",
     VALUE_LIST, 0},
    {"workflow", 'w', "WORKFLOW", "of this workflow; several with commas", VALUE_LIST, 0},
    {"tag", 't', "TAG", "with this tag", VALUE_TEXT, 0},
    {"parent", 0, "RUN", "children of this run", VALUE_TEXT, 0},
    {"waiting-on", 0, "NAME",
     "waiting for this topic or signal, or for a task or child by name or id", VALUE_TEXT, 0},
    {"state", 0, "KEY=VALUE", "whose script has set this State", VALUE_TEXT, 0},
    {"idle-before", 0, "TIME", "idle since before a time, or for longer than a duration such as 1h",
     VALUE_PAST, 0},
    {"created-before", 0, "TIME", "older than this", VALUE_PAST, 0},
    {"created-after", 0, "TIME", "younger than this", VALUE_PAST, 0},
    {"where", 0, "EXPRESSION",
     "waiting where this expression of the language is true, such as 'order.total > 100'",
     VALUE_TEXT, 0},
    {0},
};

const Verb wf_ls_verb = {
    .kind = VERB_LIST,
    .usage = "abide wf ls [options]",
    .about = "Lists runs, newest first.",
    .example = "abide wf ls --status suspended --waiting-on approval\n"
               "abide wf ls --workflow order --idle-before 1h -o ids\n"
               "abide wf ls --where 'order.total > 100 && attempts >= 3'\n"
               "abide wf ls --waiting-on charge --watch",
    .path = "/v1/runs",
    .id_field = "id",
    .options = filters,
    .columns = columns,
    .column_count = COUNT_OF(columns),
    .is_watchable = true,
};
