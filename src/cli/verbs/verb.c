// Verbs: what the data stands for.
//
// Each shape has one function: the options are made of the verb's, the session is the usual one,
// and what is done in it is that of lists, details and bulk changes.
//
// Invariants [verb-1] and [verb-2] are in verb.h.
//
// Not here: commands that do more than one of these things, which are functions of their own.
#include "cli/verbs/verb.h"
#include "cli/verbs/body.h"
#include "cli/verbs/bulk.h"
#include "cli/verbs/details.h"

enum { OPERANDS_MAX = 100000 };

// A verb while it is run.
typedef struct Doing {
    const Verb *verb;
    Session session;
    Str values[VERB_OPTIONS_MAX];        // of the verb's own options
    OptionTexts lists[VERB_OPTIONS_MAX]; // of those that are lists
    Option options[VERB_OPTIONS_MAX + 3];
    size_t count; // of the verb's own
    OptionTable table;
} Doing;

static void begin(Doing *doing, const Verb *verb, SessionUse use) {
    *doing = (Doing){.verb = verb};
    session_init(&doing->session, use);
    for (const VerbOption *own = verb->options; own != NULL && own->name != NULL; own++) {
        size_t at = doing->count++;
        ASSERT(at < VERB_OPTIONS_MAX);
        bool is_list = own->kind == VALUE_LIST;
        void *target = is_list ? (void *)&doing->lists[at] : (void *)&doing->values[at];
        doing->options[at] = (Option){own->name, own->letter, is_list ? OPTION_TEXTS : OPTION_TEXT,
                                      target,    own->value,  own->help};
    }
    doing->table = (OptionTable){
        .usage = verb->usage,
        .about = verb->about,
        .example = verb->example,
        .options = doing->options,
        .option_count = doing->count,
    };
}

// ---- lists ----

static bool put_filters(Doing *doing, Buf *path) {
    for (size_t i = 0; i < doing->count; i++) {
        const VerbOption *option = &doing->verb->options[i];
        char name[BODY_NAME_MAX];
        body_name(option->name, name); // [verb-1]
        Str value = doing->values[i];
        for (size_t j = 0; j < doing->lists[i].count; j++)
            client_put_query(path, name, str_from(doing->lists[i].items[j]));
        bool is_past = option->kind == VALUE_PAST;
        if (is_past && !session_past(&doing->session, option->name, value, &value)) return false;
        client_put_query(path, name, value);
    }
    return true;
}

static int run_list(const Verb *verb, int argument_count, char **arguments) {
    Doing doing;
    Listing listing = {.limit = verb->is_whole ? 0 : LIST_LIMIT,
                       .id_field = verb->id_field,
                       .columns = verb->columns,
                       .column_count = verb->column_count};
    begin(&doing, verb, SESSION_READS);
    if (!verb->is_whole) {
        doing.options[doing.count] = (Option){
            "limit", 'n', OPTION_COUNT, &listing.limit, "N", "how many to show; 100 unless given"};
        doing.options[doing.count + 1] = (Option){
            "cursor", 0, OPTION_TEXT, &listing.cursor, "CURSOR", "go on where a list ended"};
        doing.table.option_count += 2;
    }
    bool is_watching = false;
    if (verb->is_watchable)
        doing.options[doing.table.option_count++] = (Option){
            "watch", 0, OPTION_FLAG, &is_watching, NULL, "show it again whenever it has changed"};
    bool is_of_one = strstr(verb->path, "%s") != NULL;
    doing.table.operand_min = doing.table.operand_max = is_of_one;
    Operands operands;
    int code = session_begin(&doing.session, &doing.table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    Str whose = is_of_one ? str_from(operands.items[0]) : STR_NULL;
    Buf path;
    buf_init(&path, 1 << 16);
    buf_append_str(&path, session_path(&doing.session, verb->path, whose, STR_NULL));
    if (listing.limit == 0 && !verb->is_whole)
        (void)session_misuse(&doing.session, "--limit is at least 1");
    else if (put_filters(&doing, &path)) {
        listing.path = buf_str(&path);
        if (is_watching) list_watch(&doing.session, &listing);
        else (void)list_show(&doing.session, &listing);
    }
    buf_done(&path);
    return session_end(&doing.session);
}

// ---- details and changes ----

static int run_show(const Verb *verb, int argument_count, char **arguments) {
    Doing doing;
    begin(&doing, verb, SESSION_READS);
    doing.table.operand_min = doing.table.operand_max = 1;
    Session *session = &doing.session;
    Operands operands;
    int code = session_begin(session, &doing.table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    Str path = session_path(session, verb->path, str_from(operands.items[0]), STR_NULL);
    if (session_get(session, path))
        details_print(session, session->answer.json, verb->id_field, NULL);
    return session_end(session);
}

static Str make_body(Doing *doing) {
    static const char *const none[] = {NULL};
    if (doing->count == 0) return STR_NULL;
    Body body;
    body_begin(&body, &doing->session);
    (void)body_put_options(&body, &doing->table, none); // [verb-1]; they are all texts
    return body_end(&body);
}

static int run_change(const Verb *verb, int argument_count, char **arguments) {
    Doing doing;
    begin(&doing, verb, verb->concerns_no_run ? SESSION_READS : SESSION_CHANGES);
    doing.table.operand_min = 1;
    doing.table.operand_max = OPERANDS_MAX;
    Operands operands;
    int code = session_begin(&doing.session, &doing.table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    const Bulk bulk = {.request = bulk_request,
                       .path = verb->path,
                       .method = verb->method != NULL ? verb->method : "POST",
                       .body = make_body(&doing),
                       .id_field = verb->id_field,
                       .done = verb->done,
                       .not_done = verb->not_done != NULL ? verb->not_done : "unchanged",
                       .product = verb->product};
    (void)bulk_run(&doing.session, &operands, &bulk);
    return session_end(&doing.session);
}

int verb_run(const Verb *verb, int argument_count, char **arguments) {
    switch (verb->kind) {
    case VERB_LIST: return run_list(verb, argument_count, arguments);
    case VERB_SHOW: return run_show(verb, argument_count, arguments);
    case VERB_CHANGE: return run_change(verb, argument_count, arguments);
    }
    UNREACHABLE();
}
