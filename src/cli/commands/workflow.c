// abide workflow, abide deploy: the scripts a server knows.
//
// A file is compiled here first, so that its findings are shown as `abide check` shows them and
// nothing is sent that cannot be deployed; the server compiles it again, and its word counts.
//
// Not here: runs of workflows (wf*.c).
#include "base/array.h"
#include "cli/groups.h"
#include "cli/run/load.h"
#include "cli/runs/plan.h"
#include "cli/verbs/details.h"
#include "cli/verbs/filtered.h"
#include "cli/verbs/verb.h"
#include "flow/lexer/source.h"
#include "json/write.h"

static Str version_text(Session *session, const JsonValue *workflow) {
    (void)session;
    Str version = field_text(workflow, "version");
    if (version.len > 12) version.len = 12;
    return version;
}

static Str current_text(Session *session, const JsonValue *workflow) {
    (void)session;
    return field_flag(workflow, "current") ? STR("yes") : STR_NULL;
}

static const ListColumn columns[] = {
    {{"WORKFLOW", false, true}, "name", CELL_TEXT, NULL},
    {{"VERSION", false, false}, NULL, CELL_TEXT, version_text},
    {{"CURRENT", false, false}, NULL, CELL_TEXT, current_text},
    {{"KIND", false, false}, "kind", CELL_TEXT, NULL},
    {{"DEPLOYED", false, false}, "created_at", CELL_AGE, NULL},
};

static const VerbOption filters[] = {
    {"name", 0, "WORKFLOW", "all versions of this one", VALUE_TEXT, 0},
    {0},
};

static const Verb ls_verb = {
    .kind = VERB_LIST,
    .usage = "abide workflow ls [options]",
    .about = "Lists deployed workflows and their versions, newest first.",
    .example = "abide workflow ls\nabide workflow ls --name order",
    .path = "/v1/workflows",
    .id_field = "name",
    .options = filters,
    .columns = columns,
    .column_count = COUNT_OF(columns),
};

static void print_source(Str source, bool is_after_details, bool is_ended) {
    if (is_after_details) putchar('\n');
    fwrite(source.data, 1, source.len, stdout);
    if (is_ended && source.data[source.len - 1] != '\n') putchar('\n');
}

static bool refuse_source(Session *session, const char *name) {
    Diag diag;
    Status status = diag_set(&diag, ERR_NOT_FOUND, "WORKFLOW_KIND",
                             "\"%s\" is written in C: it has no source here", name);
    return session_fail(session, status, &diag);
}

static void show(VerbCall *call) {
    static const char *const hidden[] = {"source", NULL};
    Session *session = &call->session;
    bool is_source = verb_flag(call, "source");
    Buf path;
    buf_init(&path, 1 << 16);
    buf_append_str(&path,
                   session_path(session, "/v1/workflows/%s", verb_operand(call, 0), STR_NULL));
    client_put_query(&path, "version", verb_text(call, "version"));
    if (session_get(session, buf_str(&path))) {
        Str source = field_text(session->answer.json, "source");
        bool is_table = session->format == OUTPUT_TABLE;
        if (!is_source) details_print(session, session->answer.json, "name", hidden);
        if (source.len > 0 && (is_source || is_table)) print_source(source, !is_source, is_table);
        if (source.len == 0 && is_source) (void)refuse_source(session, call->operands.items[0]);
    }
    buf_done(&path);
}

static const VerbOption show_options[] = {
    {"version", 0, "VERSION", "the current one unless given", VALUE_TEXT, 0},
    {"source", 0, NULL, "print the source and nothing else", VALUE_FLAG, 0},
    {0},
};

static const Verb show_verb = {
    .kind = VERB_CALL,
    .usage = "abide workflow show WORKFLOW [options]",
    .about = "Shows a workflow, its configuration and its source.",
    .example = "abide workflow show order\nabide workflow show order --source > order.flow",
    .options = show_options,
    .operand_min = 1,
    .operand_max = 1,
    .act = show,
};

static void plan_files(VerbCall *call);
static const Verb plan_verb = {
    .kind = VERB_CALL,
    .usage = "abide workflow plan FILE... [options]",
    .about = "Says what deploying workflow files would mean for the runs that wait or failed: "
             "which can go on\nin the new version, which cannot and why. Nothing is changed.",
    .example = "abide workflow plan order.flow\nabide deploy order.flow --plan",
    .operand_min = 1,
    .operand_max = VERB_OPERANDS_MAX,
    .act = plan_files,
};

static const CliCommand commands[] = {
    {"ls", "list workflows and their versions", NULL, NULL, &ls_verb},
    {"show", "show a workflow and its source", NULL, NULL, &show_verb},
    {"plan", "say what a new version would mean for the runs there are", NULL, NULL, &plan_verb},
};

const CliGroup workflow_group = {
    .about = "Workflows that are deployed.",
    .example = "abide workflow ls\nabide workflow show order",
    .commands = commands,
    .count = COUNT_OF(commands),
};

// ---- deploy ----

typedef struct Deployment {
    Session *session;
    Buf text;
    JsonWriter json; // of -o json
    bool is_plan;    // nothing is deployed
} Deployment;

static void deploy_failed(Deployment *deployment, const char *file, Status status,
                          const Diag *diag) {
    session_complain(deployment->session, status, diag);
    JsonWriter *json = &deployment->json;
    json_write_object_begin(json);
    json_put_cstr(json, "file", file);
    json_write_key(json, STR("error"));
    json_write_object_begin(json);
    json_put_cstr(json, "code", diag->code);
    json_put_cstr(json, "detail", diag->message);
    json_write_object_end(json);
    json_write_object_end(json);
}

static void print_deployed(Deployment *deployment, const char *file) {
    Session *session = deployment->session;
    const JsonValue *answer = session->answer.json;
    const JsonValue *workflows = json_member(answer, STR("workflows"));
    Str version = field_text(answer, "version");
    JsonWriter *json = &deployment->json;
    json_write_object_begin(json);
    json_put_cstr(json, "file", file);
    json_put_string(json, "version", version);
    json_write_key(json, STR("workflows"));
    json_write_value(json, workflows);
    const JsonValue *warnings = json_member(answer, STR("warnings"));
    if (warnings != NULL) { // an older server answers none
        json_write_key(json, STR("warnings"));
        json_write_value(json, warnings);
    }
    json_write_object_end(json);
    JSON_EACH (workflow, workflows) {
        Str name = field_text(workflow, "name");
        if (session->format == OUTPUT_IDS) output_id(stdout, name);
        if (session->format == OUTPUT_TABLE)
            printf("%.*s: %s, version %.12s\n", STR_ARG(name),
                   field_flag(workflow, "new") ? "deployed" : "unchanged", version.data);
    }
}

static void print_plan(Deployment *deployment, const char *file) {
    const JsonValue *answer = deployment->session->answer.json;
    JsonWriter *json = &deployment->json;
    json_write_object_begin(json);
    json_put_cstr(json, "file", file);
    JSON_EACH (member, answer) {
        json_write_key(json, member->key);
        json_write_value(json, member);
    }
    json_write_object_end(json);
    if (deployment->session->format == OUTPUT_TABLE) plan_print(answer);
    if (deployment->session->format == OUTPUT_IDS)
        output_id(stdout, field_text(answer, "workflow"));
}

// The file's name goes with it, so that stacks of its runs name it.
static Str deploy_path(Session *session, Str workflow, const char *file, bool is_plan) {
    const char *slash = strrchr(file, '/');
    Buf path;
    buf_init(&path, 1 << 16);
    buf_append_str(&path, session_path(session, "/v1/workflows/%s", workflow, STR_NULL));
    client_put_query(&path, "file", str_from(slash != NULL ? slash + 1 : file));
    if (is_plan) client_put_query(&path, "plan", STR("true"));
    Str text = arena_str(&session->arena, buf_str(&path));
    buf_done(&path);
    return text;
}

static void deploy_file(Deployment *deployment, const char *file) {
    Session *session = deployment->session;
    Buf source;
    Diag diag;
    buf_init(&source, FLOW_SOURCE_MAX);
    const char *why;
    FlowModule *module = load_module(file, LOAD_CHECKED, &source, &why);
    session->answer = (ClientAnswer){0};
    Status status = OK;
    if (module == NULL) { // why has been said
        status = diag_set(&diag, ERR_INVALID, why, "%s was not deployed", file);
    } else {
        Str name = flow_module_workflow(module, 0).name;
        const ClientRequest request = {
            .method = "PUT",
            .path = deploy_path(session, name, file, deployment->is_plan),
            .body = buf_str(&source),
            .content_type = "text/plain; charset=utf-8",
        };
        status = session_try(session, &request, &diag);
        flow_module_release(module);
    }
    if (status == OK && deployment->is_plan) print_plan(deployment, file);
    else if (status == OK) print_deployed(deployment, file);
    else deploy_failed(deployment, file, status, &diag);
    buf_done(&source);
}

static void deploy_files(VerbCall *call, bool is_plan) {
    Deployment deployment = {.session = &call->session, .is_plan = is_plan};
    JsonWriter *json = &deployment.json;
    buf_init(&deployment.text, CLIENT_ANSWER_MAX);
    json_writer_init(json, &deployment.text, STR("  "));
    json_write_object_begin(json);
    json_write_key(json, STR("items"));
    json_write_array_begin(json);
    for (size_t i = 0; i < call->operands.count && !session_is_stopped(); i++)
        deploy_file(&deployment, call->operands.items[i]);
    json_write_array_end(json);
    json_write_object_end(json);
    if (call->session.format == OUTPUT_JSON) output_json_line(stdout, buf_str(&deployment.text));
    buf_done(&deployment.text);
}

static void plan_files(VerbCall *call) { deploy_files(call, true); }

// Each workflow of a file: what waits goes on in the version that was just deployed.
static void move_file(Session *session, const char *file) {
    Buf source;
    const char *why;
    buf_init(&source, FLOW_SOURCE_MAX);
    FlowModule *module = load_module(file, LOAD_CHECKED, &source, &why);
    for (uint32_t i = 0; module != NULL && i < flow_module_workflow_count(module); i++) {
        Str name = flow_module_workflow(module, i).name;
        Filtered filtered = {
            .verb = "move",
            .done = "moved",
            .filter = arena_printf(&session->arena, "workflow:\"%.*s\" status:suspended,paused",
                                   STR_ARG(name)),
            .version = arena_str(&session->arena, flow_module_hash(module)),
        };
        if (!filtered_run(session, &filtered)) break;
    }
    flow_module_release(module);
    buf_done(&source);
}

static void deploy(VerbCall *call) {
    Session *session = &call->session;
    bool is_plan = verb_flag(call, "plan"), is_move = verb_flag(call, "move");
    Diag diag;
    if (is_plan && is_move) {
        Status status = diag_set(&diag, ERR_INVALID, "BAD_OPTION", "--plan or --move, not both");
        (void)session_fail(session, status, &diag);
        return;
    }
    deploy_files(call, is_plan);
    for (size_t i = 0; is_move && session->exit_code == EXIT_CODE_OK && i < call->operands.count;
         i++)
        move_file(session, call->operands.items[i]);
}

static const VerbOption deploy_options[] = {
    {"plan", 0, NULL, "deploy nothing; say what it would mean for the runs there are", VALUE_FLAG,
     0},
    {"move", 0, NULL, "then let the runs that wait go on in it, where they can", VALUE_FLAG, 0},
    {0},
};

const Verb deploy_verb = {
    .kind = VERB_CALL,
    .usage = "abide deploy FILE... [options]",
    .about = "Deploys workflow files. Runs under way finish on the version they began with, unless "
             "they are moved.\n"
             "Files with errors are reported and not deployed; the others are.",
    .example = "abide deploy order.flow\nabide deploy order.flow --plan\n"
               "abide deploy flows/*.flow -o json",
    .options = deploy_options,
    .operand_min = 1,
    .operand_max = VERB_OPERANDS_MAX,
    .use = SESSION_CHANGES,
    .act = deploy,
};
