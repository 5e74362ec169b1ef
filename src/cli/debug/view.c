// Views: the stack, the scopes and the variables of a script that stands.
//
// A scope or a value with members gets a number when it is shown, and the client asks for its
// content by that number. Numbers are forgotten when the script goes on. [adapter-2]
//
// Not here: how values are found and written (flow/debug/look.c).
#include "cli/debug/adapter.h"

enum { FRAMES_MAX = 200, PAGE_MAX = 1000, REFERENCES_MAX = 100000, TEXT_MAX = 1 << 20 };

static uint32_t refer(Adapter *adapter, Reference reference) {
    if (adapter->references.count == REFERENCES_MAX) return 0;
    vec_push(&adapter->references, reference);
    return (uint32_t)adapter->references.count;
}

static Status get_index(const DapRequest *request, const char *name, int64_t *ret, Diag *diag) {
    TRY(json_get_i64(request->arguments, name, ret, diag));
    if (*ret < 0 || *ret > UINT32_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "%s is out of range", name);
    return OK;
}

// ---- frames ----

static void put_frame(const DapRequest *request, uint32_t number, const FlowDebugFrame *frame,
                      JsonWriter *json) {
    const Adapter *adapter = request->adapter;
    Str path = adapter->path;
    size_t start = path.len;
    while (start > 0 && path.data[start - 1] != '/') start--;
    json_write_object_begin(json);
    json_put_i64(json, "id", (int64_t)number + 1);
    json_put_string(json, "name", frame->function);
    json_put_i64(json, "line", (int64_t)frame->line - adapter->counts_from_zero_lines);
    json_put_i64(json, "column", (int64_t)frame->column - adapter->counts_from_zero_columns);
    json_write_key(json, STR("source"));
    json_write_object_begin(json);
    json_put_string(json, "name", (Str){path.data + start, path.len - start});
    if (str_is_null(adapter->source)) json_put_string(json, "path", path);
    else json_put_i64(json, "sourceReference", SOURCE_REFERENCE);
    json_write_object_end(json);
    json_write_object_end(json);
}

Status view_stack(const DapRequest *request, JsonWriter *json, Diag *diag) {
    Adapter *adapter = request->adapter;
    int64_t start = 0, levels = 0;
    uint32_t count = 0;
    FlowDebugFrame frame;
    TRY(get_index(request, "startFrame", &start, diag));
    TRY(get_index(request, "levels", &levels, diag));
    if (levels == 0) levels = FRAMES_MAX;
    json_write_key(json, STR("stackFrames"));
    json_write_array_begin(json);
    while (count < FRAMES_MAX &&
           flow_debug_frame(adapter->session.vm, count, &adapter->message, &frame)) {
        if (count >= start && count < start + levels) put_frame(request, count, &frame, json);
        count++;
    }
    json_write_array_end(json);
    json_put_i64(json, "totalFrames", count);
    return OK;
}

// ---- scopes ----

static void put_scope(const DapRequest *request, const char *name, Reference reference,
                      JsonWriter *json) {
    json_write_object_begin(json);
    json_put_cstr(json, "name", name);
    if (reference.kind == REFERENCE_LOCAL) json_put_cstr(json, "presentationHint", "locals");
    json_put_i64(json, "variablesReference", refer(request->adapter, reference));
    json_put_bool(json, "expensive", false);
    json_write_object_end(json);
}

static Status get_frame(const DapRequest *request, uint32_t *ret_frame, Diag *diag) {
    int64_t id = 1;
    FlowDebugFrame frame;
    Adapter *adapter = request->adapter;
    TRY(get_index(request, "frameId", &id, diag));
    *ret_frame = id > 0 ? (uint32_t)id - 1 : 0;
    if (!flow_debug_frame(adapter->session.vm, *ret_frame, &adapter->message, &frame))
        return diag_set(diag, ERR_NOT_FOUND, "BAD_FIELD", "there is no such frame");
    return OK;
}

Status view_scopes(const DapRequest *request, JsonWriter *json, Diag *diag) {
    uint32_t frame;
    TRY(get_frame(request, &frame, diag));
    json_write_key(json, STR("scopes"));
    json_write_array_begin(json);
    put_scope(request, "Local", (Reference){REFERENCE_LOCAL, frame, 0}, json);
    put_scope(request, "Closure", (Reference){REFERENCE_CAPTURED, frame, 0}, json);
    put_scope(request, "Run", (Reference){REFERENCE_INPUTS, frame, 0}, json);
    json_write_array_end(json);
    return OK;
}

// ---- variables ----

typedef struct Listing {
    const DapRequest *request;
    JsonWriter *json;
} Listing;

static void put_value(void *context, const FlowDebugValue *value) {
    const Listing *listing = context;
    JsonWriter *json = listing->json;
    uint32_t number = 0;
    if (value->ref != 0)
        number = refer(listing->request->adapter, (Reference){REFERENCE_VALUE, 0, value->ref});
    json_write_object_begin(json);
    json_put_string(json, "name", value->name);
    json_put_string(json, "value", value->text);
    json_put_cstr(json, "type", value->type);
    json_put_i64(json, "variablesReference", number);
    if (number != 0)
        json_put_i64(json, value->is_indexed ? "indexedVariables" : "namedVariables",
                     value->member_count);
    json_write_object_end(json);
}

static Status get_reference(const DapRequest *request, Reference *ret, Diag *diag) {
    int64_t number = 0;
    const Adapter *adapter = request->adapter;
    TRY(get_index(request, "variablesReference", &number, diag));
    if (number == 0 || (uint64_t)number > adapter->references.count)
        return diag_set(diag, ERR_NOT_FOUND, "BAD_FIELD",
                        "the reference is not valid any more: the script went on");
    *ret = adapter->references.data[number - 1];
    return OK;
}

Status view_variables(const DapRequest *request, JsonWriter *json, Diag *diag) {
    Reference reference;
    int64_t start = 0, count = 0;
    TRY(get_reference(request, &reference, diag));
    TRY(get_index(request, "start", &start, diag));
    TRY(get_index(request, "count", &count, diag));
    Listing listing = {request, json};
    FlowDebugList list = {.vm = request->adapter->session.vm,
                          .arena = &request->adapter->message,
                          .start = (uint32_t)start,
                          .count = count == 0 || count > PAGE_MAX ? PAGE_MAX : (uint32_t)count,
                          .visit = put_value,
                          .context = &listing};
    json_write_key(json, STR("variables"));
    json_write_array_begin(json);
    switch (reference.kind) {
    case REFERENCE_LOCAL: flow_debug_variables(&list, reference.frame, DEBUG_SCOPE_LOCAL); break;
    case REFERENCE_CAPTURED:
        flow_debug_variables(&list, reference.frame, DEBUG_SCOPE_CAPTURED);
        break;
    case REFERENCE_INPUTS: flow_debug_inputs(&list); break;
    case REFERENCE_VALUE: flow_debug_members(&list, reference.value); break;
    }
    json_write_array_end(json);
    return OK;
}

// ---- expressions ----

static Status evaluate(const DapRequest *request, uint32_t frame, Str text, Str *ret, Diag *diag) {
    Buf value;
    buf_init(&value, TEXT_MAX);
    Status status = session_evaluate(&request->adapter->session, text, frame, &value, diag);
    if (status == OK) *ret = arena_str(&request->adapter->message, buf_str(&value));
    buf_done(&value);
    return status;
}

Status view_evaluate(const DapRequest *request, JsonWriter *json, Diag *diag) {
    uint32_t frame;
    Str text = STR_NULL, value = STR_NULL;
    TRY(get_frame(request, &frame, diag));
    TRY(json_get_string(request->arguments, "expression", &text, diag));
    if (str_is_null(text))
        return diag_set(diag, ERR_INVALID, "MISSING_FIELD", "expression is missing");
    TRY(evaluate(request, frame, text, &value, diag));
    json_put_string(json, "result", value);
    json_put_i64(json, "variablesReference", 0);
    return OK;
}

// The new value is an expression, evaluated in the frame; what it gives is set as data.
Status view_set_variable(const DapRequest *request, JsonWriter *json, Diag *diag) {
    Reference reference;
    Str name = STR_NULL, text = STR_NULL, value = STR_NULL;
    TRY(get_reference(request, &reference, diag));
    TRY(json_get_string(request->arguments, "name", &name, diag));
    TRY(json_get_string(request->arguments, "value", &text, diag));
    if (str_is_null(name) || str_is_null(text))
        return diag_set(diag, ERR_INVALID, "MISSING_FIELD", "name or value is missing");
    if (reference.kind != REFERENCE_LOCAL)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "only local variables can be set");
    TRY(evaluate(request, reference.frame, text, &value, diag));
    TRY(flow_debug_set(request->adapter->session.vm, reference.frame, name, value, diag));
    json_put_string(json, "value", value);
    return OK;
}

Status view_exception(const DapRequest *request, JsonWriter *json, Diag *diag) {
    Adapter *adapter = request->adapter;
    Str text = flow_debug_exception(adapter->session.vm, &adapter->message);
    if (str_is_null(text))
        return diag_set(diag, ERR_NOT_FOUND, "BAD_FIELD", "there is no exception here");
    json_put_cstr(json, "exceptionId", "exception");
    json_put_string(json, "description", text);
    json_put_cstr(json, "breakMode", "always");
    return OK;
}
