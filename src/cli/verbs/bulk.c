// Bulk changes, one call after the other over one connection.
//
// Lines are printed as the changes happen, so that an interrupted command has said what it did;
// JSON is one document and comes at the end, also of an interrupted one.
//
// Invariants [bulk-1]-[bulk-3] are in bulk.h.
//
// Not here: what is changed (the commands).
#include "cli/verbs/bulk.h"
#include "json/write.h"

enum { LINE_SIZE_MAX = 4096 }; // ids are at most 255 bytes

typedef struct Progress {
    Session *session;
    const Bulk *bulk;
    JsonWriter json;
    Buf text; // of -o json
    size_t done_count;
    size_t failed_count;
} Progress;

ClientRequest bulk_request(Session *session, const Bulk *bulk, Str id) {
    return (ClientRequest){
        .method = bulk->method,
        .path = session_path(session, bulk->path, id, STR_NULL),
        .body = bulk->body,
    };
}

static void put_answer(Progress *progress, Str id, const JsonValue *answer) {
    JsonWriter *json = &progress->json;
    json_write_object_begin(json);
    json_put_string(json, progress->bulk->id_field, id);
    bool has_members = answer != NULL && answer->kind == JSON_KIND_OBJECT;
    if (!has_members) json_put_bool(json, "changed", true);
    else
        JSON_EACH (member, answer) {
            if (str_equal(member->key, str_from(progress->bulk->id_field))) continue;
            json_write_key(json, member->key);
            json_write_value(json, member);
        }
    json_write_object_end(json);
}

static void put_error(Progress *progress, Str id, const Diag *diag) {
    JsonWriter *json = &progress->json;
    json_write_object_begin(json);
    json_put_string(json, progress->bulk->id_field, id);
    json_write_key(json, STR("error"));
    json_write_object_begin(json);
    json_put_cstr(json, "code", diag->code);
    json_put_cstr(json, "detail", diag->message);
    json_write_object_end(json);
    json_write_object_end(json);
}

static void print_line(Progress *progress, Str id, const JsonValue *answer) {
    const Bulk *bulk = progress->bulk;
    bool is_changed = json_member(answer, STR("changed")) == NULL || field_flag(answer, "changed");
    bool is_table = progress->session->format == OUTPUT_TABLE;
    Str product = bulk->product != NULL ? field_text(answer, bulk->product) : STR_NULL;
    Buf line;
    buf_init(&line, 1 << 16);
    if (is_table || str_is_null(product)) output_clean(&line, id, 0);
    if (is_table) buf_printf(&line, ": %s", is_changed ? bulk->done : bulk->not_done);
    if (is_table && !str_is_null(product)) buf_append_char(&line, ' ');
    output_clean(&line, product, 0);
    if (is_changed || is_table) {
        session_clear_progress(progress->session);
        output_json_line(stdout, buf_str(&line));
    }
    buf_done(&line);
}

static void change_one(Progress *progress, Str id) {
    Session *session = progress->session;
    ArenaMark mark = arena_mark(&session->arena);
    ClientRequest request = progress->bulk->request(session, progress->bulk, id);
    Diag diag;
    Status status = session_try(session, &request, &diag);
    const JsonValue *answer = session->answer.json;
    if (status != OK) {
        session_complain(session, status, &diag); // [bulk-2]
        progress->failed_count++;
        if (session->format == OUTPUT_JSON) put_error(progress, id, &diag);
    } else {
        progress->done_count++;
        if (session->format == OUTPUT_JSON) put_answer(progress, id, answer);
        else print_line(progress, id, answer);
    }
    session->answer.json = NULL;
    arena_rewind(&session->arena, mark);
}

// The first word of a line; empty for an empty line.
static Str first_word(Str line) {
    line = str_trim(line);
    size_t len = 0;
    while (len < line.len && line.data[len] != ' ' && line.data[len] != '\t') len++;
    return (Str){line.data, len};
}

static void change_lines(Progress *progress) {
    char line[LINE_SIZE_MAX];
    while (!session_is_stopped() && fgets(line, sizeof line, stdin) != NULL) {
        Str id = first_word(str_from(line));
        if (id.len == 0) continue;
        session_progress(progress->session, "%zu done", progress->done_count);
        change_one(progress, id);
    }
}

static bool interrupted(Session *session) {
    Diag diag;
    session->answer = (ClientAnswer){0};
    Status status = diag_set(&diag, ERR_INTERRUPTED, "INTERRUPTED", "interrupted");
    return session_complain(session, status, &diag);
}

bool bulk_run(Session *session, const Operands *operands, const Bulk *bulk) {
    Progress progress = {.session = session, .bulk = bulk};
    buf_init(&progress.text, 512 << 20);
    json_writer_init(&progress.json, &progress.text, STR("  "));
    json_write_object_begin(&progress.json);
    json_write_key(&progress.json, STR("items"));
    json_write_array_begin(&progress.json);
    for (size_t i = 0; i < operands->count && !session_is_stopped(); i++) {
        if (strcmp(operands->items[i], "-") == 0) change_lines(&progress);
        else change_one(&progress, str_from(operands->items[i]));
    }
    json_write_array_end(&progress.json);
    json_write_object_end(&progress.json);
    if (session->format == OUTPUT_JSON) output_json_line(stdout, buf_str(&progress.text));
    buf_done(&progress.text);
    if (session_is_stopped() && session->exit_code == EXIT_CODE_OK) return interrupted(session);
    return progress.failed_count == 0;
}
