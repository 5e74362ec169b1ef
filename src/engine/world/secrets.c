// Secrets of tasks: places of an input, and the texts that belong there.
//
// The row has the input with masks, and the list of places beside it: [[name, prefix, part…]…],
// where the parts are the members and indexes that lead to the place. The language made the list
// while it wrote the input (flow/builtin/text/secret.c), so what merely looks like a mask is never
// filled.
//
//   [secrets-1] Nobody but who executes the task sees the result: it is not stored, logged or
//        shown.
//   [secrets-2] Places stand in the order of the text, because both were written in one order.
//
// Not here: where the texts come from (base/secret.h).
#include "engine/world/secrets.h"
#include "base/limits.h"
#include "base/secret.h"
#include "json/escape.h"
#include "json/value.h"
#include "json/write.h"

enum { FILLED_SIZE_MAX = 64 << 20 };

static Status damaged(const TaskRow *task, Diag *diag) {
    return diag_set(diag, ERR_CORRUPT, "BAD_SECRET",
                    "the places of the secrets of task \"%.*s\" do not fit its input",
                    STR_ARG(task->id));
}

// Where the parts lead; NULL: nowhere.
static const JsonValue *follow(const JsonValue *value, const JsonValue *part) {
    for (; part != NULL && value != NULL; part = part->next) {
        if (part->kind == JSON_KIND_STRING && value->kind == JSON_KIND_OBJECT)
            value = json_member(value, part->string);
        else if (part->kind == JSON_KIND_NUMBER && value->kind == JSON_KIND_ARRAY)
            value = json_item(value, (size_t)part->number);
        else value = NULL;
    }
    return value;
}

static Status put_text(const JsonValue *name, const JsonValue *prefix, Buf *out, Diag *diag) {
    Buf text;
    buf_init(&text, SECRET_SIZE_MAX * 2);
    buf_append_str(&text, prefix->string);
    Status status = secret_read(name->string, &text, diag);
    if (status == OK) json_append_string(out, buf_str(&text));
    buf_done(&text);
    return status;
}

typedef struct Filling {
    const TaskRow *task;
    const JsonValue *input;
    size_t at; // what of the input is written
    Buf *out;
    Diag *diag;
} Filling;

// Appends the input up to the place, and the text that belongs there.
static Status fill_place(Filling *filling, const JsonValue *place) {
    const TaskRow *task = filling->task;
    const JsonValue *name = place->kind == JSON_KIND_ARRAY ? place->first : NULL;
    const JsonValue *prefix = name != NULL ? name->next : NULL;
    bool is_place =
        prefix != NULL && name->kind == JSON_KIND_STRING && prefix->kind == JSON_KIND_STRING;
    const JsonValue *value = is_place ? follow(filling->input, prefix->next) : NULL;
    if (value == NULL) return damaged(task, filling->diag);
    size_t start = (size_t)(value->raw.data - task->input.data);
    if (start < filling->at) return damaged(task, filling->diag); // [secrets-2]
    buf_append(filling->out, task->input.data + filling->at, start - filling->at);
    filling->at = start + value->raw.len;
    return put_text(name, prefix, filling->out, filling->diag);
}

static Status fill(const TaskRow *task, Arena *arena, Buf *out, Diag *diag) {
    JsonValue *input = NULL, *places = NULL;
    if (json_parse(arena, task->input, &input, diag) != OK) return damaged(task, diag);
    if (json_parse(arena, task->secrets, &places, diag) != OK) return damaged(task, diag);
    if (places->kind != JSON_KIND_ARRAY) return damaged(task, diag);
    Filling filling = {.task = task, .input = input, .out = out, .diag = diag};
    JSON_EACH (place, places) TRY(fill_place(&filling, place));
    buf_append(out, task->input.data + filling.at, task->input.len - filling.at);
    if (!out->is_overflown) return OK;
    return diag_set(diag, ERR_LIMIT, "PAYLOAD_TOO_LARGE",
                    "the input with its secrets is too large");
}

Status secrets_fill(const TaskRow *task, Arena *arena, Str *ret_input, Diag *diag) {
    *ret_input = task->input;
    if (str_is_null(task->secrets)) return OK;
    Buf out;
    buf_init(&out, FILLED_SIZE_MAX);
    Status status = fill(task, arena, &out, diag);
    if (status == OK) *ret_input = arena_str(arena, buf_str(&out));
    buf_done(&out);
    return status;
}

Str secrets_error(const Diag *diag, Arena *arena) {
    Buf text;
    JsonWriter json;
    buf_init(&text, (size_t)LIMIT_ERROR_SIZE);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_string(&json, "type", SECRET_ERROR);
    json_put_cstr(&json, "message", diag->message);
    json_put_cstr(&json, "code", diag->code);
    json_write_object_end(&json);
    Str error = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return error;
}
