// Verbs: what the data stands for.
//
// Each shape has one function: the options are made of the verb's, the session is the usual one,
// and what is done in it is that of lists, details and bulk changes.
//
// Invariants [verb-1] and [verb-2] are in verb.h.
//
// Not here: what the functions of verbs do (the commands).
#include "cli/verbs/verb.h"
#include "cli/verbs/bulk.h"
#include "cli/verbs/details.h"
#include "cli/verbs/filtered.h"

static const OptionKind option_kinds[] = {
    [VALUE_TEXT] = OPTION_TEXT, [VALUE_NUMBER] = OPTION_NUMBER, [VALUE_FLAG] = OPTION_FLAG,
    [VALUE_PAST] = OPTION_TEXT, [VALUE_LIST] = OPTION_TEXTS,
};

static void *target_of(VerbCall *call, size_t at, VerbValue kind) {
    if (kind == VALUE_LIST) return &call->lists[at];
    if (kind == VALUE_FLAG) return &call->flags[at];
    return &call->values[at];
}

static void prepare(VerbCall *call, const Verb *verb, SessionUse use) {
    *call = (VerbCall){.verb = verb};
    session_init(&call->session, use);
    for (const VerbOption *own = verb->options; own != NULL && own->name != NULL; own++) {
        size_t at = call->count++;
        ASSERT(at < VERB_OPTIONS_MAX);
        call->options[at] = (Option){
            own->name,  own->letter, option_kinds[own->kind], target_of(call, at, own->kind),
            own->value, own->help};
    }
    call->table = (OptionTable){
        .usage = verb->usage,
        .about = verb->about,
        .example = verb->example,
        .options = call->options,
        .option_count = call->count,
    };
}

static bool is_given(const VerbCall *call, size_t at) {
    return call->flags[at] || call->lists[at].count > 0 || !str_is_null(call->values[at]);
}

// As session_begin.
static int begin(VerbCall *call, size_t operand_min, size_t operand_max, int argument_count,
                 char **arguments) {
    call->table.operand_min = operand_min;
    call->table.operand_max = operand_max;
    int code =
        session_parse(&call->session, &call->table, argument_count, arguments, &call->operands);
    if (code != SESSION_GO_ON) return code;
    for (size_t i = 0; i < call->count; i++) {
        bool is_at_work = (call->verb->options[i].facts & VERB_WORKS) && is_given(call, i);
        if (is_at_work) call->session.use = SESSION_CHANGES;
    }
    return session_connect(&call->session);
}

// ---- for the functions of verbs ----

static size_t place_of(const VerbCall *call, const char *option) {
    for (size_t i = 0; i < call->count; i++)
        if (strcmp(call->verb->options[i].name, option) == 0) return i;
    UNREACHABLE();
}

Str verb_text(const VerbCall *call, const char *option) {
    return call->values[place_of(call, option)];
}
bool verb_flag(const VerbCall *call, const char *option) {
    return call->flags[place_of(call, option)];
}
const OptionTexts *verb_list(const VerbCall *call, const char *option) {
    return &call->lists[place_of(call, option)];
}

Str verb_operand(const VerbCall *call, size_t index) {
    return index < call->operands.count ? str_from(call->operands.items[index]) : STR_NULL;
}

bool verb_put_input(VerbCall *call, Body *body, size_t index) {
    const char *operand = index < call->operands.count ? call->operands.items[index] : NULL;
    Str input = STR_NULL;
    if (!session_payload(&call->session, operand, &input)) return false;
    body_put_raw(body, "input", input);
    return true;
}

bool verb_body(VerbCall *call, Str *ret_body) {
    Body body;
    bool is_ok = true;
    body_begin(&body, &call->session);
    for (size_t i = 0; i < call->count && is_ok; i++) { // [verb-1]
        if (call->verb->options[i].facts & VERB_OWN) continue;
        is_ok = body_put_option(&body, &call->options[i]);
    }
    if (is_ok && call->verb->put != NULL) is_ok = call->verb->put(call, &body);
    *ret_body = body_end(&body);
    return is_ok;
}

// ---- lists ----

static bool put_filters(VerbCall *call, Buf *path) {
    for (size_t i = 0; i < call->count; i++) {
        const VerbOption *option = &call->verb->options[i];
        char name[BODY_NAME_MAX];
        body_name(option->name, name); // [verb-1]
        Str value = call->values[i];
        for (size_t j = 0; j < call->lists[i].count; j++)
            client_put_query(path, name, str_from(call->lists[i].items[j]));
        bool is_past = option->kind == VALUE_PAST;
        if (is_past && !session_past(&call->session, option->name, value, &value)) return false;
        client_put_query(path, name, value);
    }
    return true;
}

static int run_list(const Verb *verb, int argument_count, char **arguments) {
    VerbCall call;
    Listing listing = {.limit = verb->is_whole ? 0 : LIST_LIMIT,
                       .id_field = verb->id_field,
                       .columns = verb->columns,
                       .column_count = verb->column_count};
    prepare(&call, verb, SESSION_READS);
    if (!verb->is_whole) {
        call.options[call.count] = (Option){
            "limit", 'n', OPTION_COUNT, &listing.limit, "N", "how many to show; 100 unless given"};
        call.options[call.count + 1] = (Option){
            "cursor", 0, OPTION_TEXT, &listing.cursor, "CURSOR", "go on where a list ended"};
        call.table.option_count += 2;
    }
    bool is_watching = false;
    if (verb->is_watchable)
        call.options[call.table.option_count++] = (Option){
            "watch", 0, OPTION_FLAG, &is_watching, NULL, "show it again whenever it has changed"};
    bool is_of_one = strstr(verb->path, "%s") != NULL;
    int code = begin(&call, is_of_one, is_of_one, argument_count, arguments);
    if (code != SESSION_GO_ON) return code;
    Buf path;
    buf_init(&path, 1 << 16);
    buf_append_str(&path,
                   session_path(&call.session, verb->path, verb_operand(&call, 0), STR_NULL));
    if (listing.limit == 0 && !verb->is_whole)
        (void)session_misuse(&call.session, "--limit is at least 1");
    else if (put_filters(&call, &path)) {
        listing.path = buf_str(&path);
        if (is_watching) list_watch(&call.session, &listing);
        else (void)list_show(&call.session, &listing);
    }
    buf_done(&path);
    return session_end(&call.session);
}

// ---- the others ----

static int run_show(const Verb *verb, int argument_count, char **arguments) {
    VerbCall call;
    Session *session = &call.session;
    prepare(&call, verb, SESSION_READS);
    int code = begin(&call, 1, 1, argument_count, arguments);
    if (code != SESSION_GO_ON) return code;
    if (session_get(session, session_path(session, verb->path, verb_operand(&call, 0), STR_NULL)))
        details_print(session, session->answer.json, verb->id_field, NULL);
    return session_end(session);
}

// Operands or a filter: true when it is the filter, which is done then.
static bool change_filtered(VerbCall *call) {
    const Verb *verb = call->verb;
    Str filter = verb->filtered != NULL ? verb_text(call, "q") : STR_NULL;
    Diag diag;
    if (!str_is_null(filter) == (call->operands.count == 0)) {
        if (str_is_null(filter)) return false;
        Filtered filtered = {.verb = verb->filtered,
                             .done = verb->filtered_done,
                             .filter = filter,
                             .version = verb_text(call, verb->version_option),
                             .is_dry = verb_flag(call, "dry-run")};
        (void)filtered_run(&call->session, &filtered);
        return true;
    }
    Status status = diag_set(&diag, ERR_INVALID, "BAD_OPTION", "name runs, or give a filter (-q)");
    return session_fail(&call->session, status, &diag), true;
}

static int run_change(const Verb *verb, int argument_count, char **arguments) {
    VerbCall call;
    prepare(&call, verb, verb->concerns_no_run ? SESSION_READS : SESSION_CHANGES);
    size_t operand_min = verb->filtered != NULL ? 0 : 1;
    int code = begin(&call, operand_min, VERB_OPERANDS_MAX, argument_count, arguments);
    if (code != SESSION_GO_ON) return code;
    if (change_filtered(&call)) return session_end(&call.session);
    Bulk bulk = {.request = bulk_request,
                 .path = verb->path,
                 .method = verb->method != NULL ? verb->method : "POST",
                 .id_field = verb->id_field,
                 .done = verb->done,
                 .not_done = verb->not_done != NULL ? verb->not_done : "unchanged",
                 .product = verb->product};
    bool is_ok = call.count == 0 || verb_body(&call, &bulk.body);
    if (is_ok) (void)bulk_run(&call.session, &call.operands, &bulk);
    return session_end(&call.session);
}

static int run_set(const Verb *verb, int argument_count, char **arguments) {
    VerbCall call;
    Session *session = &call.session;
    ClientRequest request = {.method = verb->method};
    prepare(&call, verb, SESSION_CHANGES);
    int code = begin(&call, verb->operand_min, verb->operand_max, argument_count, arguments);
    if (code != SESSION_GO_ON) return code;
    request.path = session_path(session, verb->path, verb_operand(&call, 0), STR_NULL);
    if (verb_body(&call, &request.body) && session_call(session, &request))
        details_print(session, session->answer.json, verb->id_field, NULL);
    return session_end(session);
}

static int run_call(const Verb *verb, int argument_count, char **arguments) {
    VerbCall call;
    prepare(&call, verb, verb->use);
    if (verb->has_no_ids) session_has_no_ids(&call.session);
    int code = begin(&call, verb->operand_min, verb->operand_max, argument_count, arguments);
    if (code != SESSION_GO_ON) return code;
    verb->act(&call);
    return session_end(&call.session);
}

int verb_run(const Verb *verb, int argument_count, char **arguments) {
    switch (verb->kind) {
    case VERB_LIST: return run_list(verb, argument_count, arguments);
    case VERB_SHOW: return run_show(verb, argument_count, arguments);
    case VERB_CHANGE: return run_change(verb, argument_count, arguments);
    case VERB_SET: return run_set(verb, argument_count, arguments);
    case VERB_CALL: return run_call(verb, argument_count, arguments);
    }
    UNREACHABLE();
}
