// Breakpoints as the client describes them: lines with conditions, hit counts and log texts, and
// the exceptions to stop at.
//
// All breakpoints of the file are given at once, each time. One on a line without code moves to the
// next line that has some; one behind the last statement, or in another file, is not verified.
#include "base/memory.h"
#include "base/text/number.h"
#include "cli/debug/adapter.h"

enum { LOG_TEXT_MAX = 4096 };

static void put_breakpoint(const DapRequest *request, uint32_t line, const char *message,
                           JsonWriter *json) {
    json_write_object_begin(json);
    json_put_bool(json, "verified", message == NULL);
    if (line > 0)
        json_put_i64(json, "line", (int64_t)line - request->adapter->counts_from_zero_lines);
    if (message) json_put_cstr(json, "message", message);
    json_write_object_end(json);
}

// "3", ">= 3", "> 3": from which time on it stops.
static Status read_hits(Str text, uint64_t *ret_hits, Diag *diag) {
    bool is_after = text.len > 0 && text.data[0] == '>';
    Str digits = text;
    while (digits.len > 0 &&
           (digits.data[0] == '>' || digits.data[0] == '=' || digits.data[0] == ' ')) {
        if (digits.data[0] == '=') is_after = false;
        digits = (Str){digits.data + 1, digits.len - 1};
    }
    uint64_t hits = 0;
    for (size_t i = 0; i < digits.len && i < 10; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9') break;
        hits = hits * 10 + (uint64_t)(digits.data[i] - '0');
        if (i + 1 == digits.len) {
            *ret_hits = hits + is_after;
            return OK;
        }
    }
    return diag_set(diag, ERR_INVALID, "BAD_FIELD", "a hit count is a number like 3 or >= 3");
}

static Status read_breakpoint(const JsonValue *item, Breakpoint *ret, Diag *diag) {
    Str condition = STR_NULL, hits = STR_NULL, log = STR_NULL;
    TRY(json_get_string(item, "condition", &condition, diag));
    TRY(json_get_string(item, "hitCondition", &hits, diag));
    TRY(json_get_string(item, "logMessage", &log, diag));
    if (log.len > LOG_TEXT_MAX)
        return diag_set(diag, ERR_LIMIT, "BAD_FIELD", "a log text has at most %d bytes",
                        LOG_TEXT_MAX);
    if (hits.len > 0) TRY(read_hits(hits, &ret->hits_wanted, diag));
    if (condition.len > 0) TRY(flow_expression_parse(condition, &ret->condition, diag));
    if (log.len > 0) ret->log = mem_copy(log.data, log.len);
    return OK;
}

static void set_one(const DapRequest *request, const JsonValue *item, bool is_ours,
                    JsonWriter *json) {
    Adapter *adapter = request->adapter;
    DebugSession *session = &adapter->session;
    Breakpoint breakpoint = {0};
    int64_t line = -1;
    Diag diag;
    if (json_get_i64(item, "line", &line, &diag) != OK || line < 0 || line > INT32_MAX) {
        put_breakpoint(request, 0, "a breakpoint has a line", json);
        return;
    }
    line += adapter->counts_from_zero_lines;
    if (!is_ours) {
        put_breakpoint(request, (uint32_t)line, "not the file that is debugged", json);
        return;
    }
    breakpoint.line = flow_debug_code_line(session->setting.module, (uint32_t)line);
    if (breakpoint.line == 0) {
        put_breakpoint(request, (uint32_t)line, "there is no code at or after this line", json);
    } else if (session->breakpoints.count == BREAKPOINTS_MAX) {
        put_breakpoint(request, (uint32_t)line, "there are too many breakpoints", json);
    } else if (read_breakpoint(item, &breakpoint, &diag) != OK) {
        breakpoint_done(&breakpoint);
        put_breakpoint(request, (uint32_t)line, diag.message, json);
    } else {
        if (adapter->launch.is_free) breakpoint_done(&breakpoint);
        else session_add_breakpoint(session, &breakpoint);
        put_breakpoint(request, breakpoint.line, NULL, json);
    }
}

Status set_breakpoints(const DapRequest *request, JsonWriter *json, Diag *diag) {
    Adapter *adapter = request->adapter;
    const JsonValue *source = NULL, *items = NULL;
    Str path = STR_NULL;
    TRY(json_get_object(request->arguments, "source", &source, diag));
    TRY(json_get_array(request->arguments, "breakpoints", &items, diag));
    if (source) TRY(json_get_string(source, "path", &path, diag));
    Str real = str_is_null(path) ? path : launch_real_path(&adapter->message, path);
    int64_t reference = 0;
    if (source) TRY(json_get_i64(source, "sourceReference", &reference, diag));
    bool is_ours = str_is_null(adapter->source) ? str_same(real, adapter->path)
                                                : reference == SOURCE_REFERENCE;
    if (is_ours) session_clear_breakpoints(&adapter->session);
    json_write_key(json, STR("breakpoints"));
    json_write_array_begin(json);
    if (items)
        JSON_EACH (item, items) set_one(request, item, is_ours, json);
    json_write_array_end(json);
    return OK;
}

Status set_exception_breakpoints(const DapRequest *request, JsonWriter *json, Diag *diag) {
    const JsonValue *filters = NULL;
    FlowDebugCatch what = DEBUG_CATCH_NONE;
    (void)json;
    TRY(json_get_array(request->arguments, "filters", &filters, diag));
    if (filters)
        JSON_EACH (filter, filters) {
            bool is_text = filter->kind == JSON_KIND_STRING;
            if (is_text && str_equal(filter->string, STR("all"))) what = DEBUG_CATCH_ALL;
            else if (is_text && str_equal(filter->string, STR("uncaught")))
                what = what == DEBUG_CATCH_ALL ? what : DEBUG_CATCH_UNCAUGHT;
            else return diag_set(diag, ERR_INVALID, "BAD_FIELD", "the filters are all, uncaught");
        }
    if (request->adapter->launch.is_free) what = DEBUG_CATCH_NONE;
    flow_debug_catch(request->adapter->session.debugger, what);
    return OK;
}
