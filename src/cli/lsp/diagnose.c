// Diagnostics: the findings of `abide check`, with their hints, and fixes for those that name what
// was probably meant.
//
// The suggestion travels in the `data` of a diagnostic. The client sends it back when it asks for
// fixes, so nothing has to be remembered or checked again.
#include "cli/lsp/lsp.h"
#include "flow/flow.h"
#include "flow/lexer/report.h"

enum { SEVERITY_ERROR = 1, SEVERITY_WARNING = 2, ACTIONS_MAX = 50 };

static void put_finding(const LspRequest *request, const FlowDiagnostic *finding,
                        JsonWriter *json) {
    Str message = finding->message;
    if (finding->hint.len > 0)
        message =
            arena_printf(request->arena, "%.*s\n%.*s", STR_ARG(message), STR_ARG(finding->hint));
    json_write_object_begin(json);
    position_put_range(json, "range", request->document, (Range){finding->start, finding->end});
    json_put_i64(json, "severity",
                 finding->severity == FLOW_SEVERITY_ERROR ? SEVERITY_ERROR : SEVERITY_WARNING);
    json_put_cstr(json, "code", flow_code_name(finding->code));
    json_put_cstr(json, "source", "abide");
    json_put_string(json, "message", message);
    if (finding->suggestion.len > 0) json_put_string(json, "data", finding->suggestion);
    json_write_object_end(json);
}

void lsp_diagnose(const LspRequest *request, JsonWriter *json) {
    FlowSource source;
    FlowModule *module = NULL;
    Diag diag;
    json_write_array_begin(json);
    Status status = flow_source_init(&source, str_from(request->document->uri),
                                     buf_str(&request->document->text), request->arena, &diag);
    ASSERT(status == OK); // a document has the same ceiling
    FlowReport *report = ARENA_NEW(request->arena, FlowReport);
    flow_report_init(report, &source, request->arena);
    if (flow_compile_checked(report, &module, &diag) == OK) flow_module_release(module);
    for (uint32_t i = 0; i < report->count; i++) put_finding(request, &report->items[i], json);
    json_write_array_end(json);
}

// ---- fixes ----

static void put_action(const LspRequest *request, const JsonValue *diagnostic, Str replacement,
                       JsonWriter *json) {
    json_write_object_begin(json);
    json_put_string(json, "title",
                    arena_printf(request->arena, "Change to `%.*s`", STR_ARG(replacement)));
    json_put_cstr(json, "kind", "quickfix");
    json_put_bool(json, "isPreferred", true);
    json_write_key(json, STR("diagnostics"));
    json_write_array_begin(json);
    json_write_value(json, diagnostic);
    json_write_array_end(json);
    json_write_key(json, STR("edit"));
    json_write_object_begin(json);
    json_write_key(json, STR("changes"));
    json_write_object_begin(json);
    json_write_key(json, str_from(request->document->uri));
    json_write_array_begin(json);
    json_write_object_begin(json);
    json_write_key(json, STR("range"));
    json_write_value(json, json_member(diagnostic, STR("range")));
    json_put_string(json, "newText", replacement);
    json_write_object_end(json);
    json_write_array_end(json);
    json_write_object_end(json);
    json_write_object_end(json);
    json_write_object_end(json);
}

void lsp_actions(const LspRequest *request, const JsonValue *context, JsonWriter *json) {
    const JsonValue *diagnostics = json_member(context, STR("diagnostics"));
    int count = 0;
    json_write_array_begin(json);
    if (diagnostics && diagnostics->kind == JSON_KIND_ARRAY) {
        JSON_EACH (diagnostic, diagnostics) {
            const JsonValue *source = json_member(diagnostic, STR("source"));
            const JsonValue *data = json_member(diagnostic, STR("data"));
            bool is_ours = source && source->kind == JSON_KIND_STRING &&
                           str_equal(source->string, STR("abide")) && data &&
                           data->kind == JSON_KIND_STRING && json_member(diagnostic, STR("range"));
            if (is_ours && count++ < ACTIONS_MAX)
                put_action(request, diagnostic, data->string, json);
        }
    }
    json_write_array_end(json);
}
