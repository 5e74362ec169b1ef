// Load: reads and compiles a workflow file for a command that works on the result.
//
// Findings are printed here, as `abide check` prints them, so that every command says the same
// about a broken file. Warnings do not keep a file from being loaded.
//   [load-1] Nothing of the text or the tree outlives the call: a module owns all it needs.

#include "cli/run/load.h"
#include "cli/run/files.h"
#include "flow/lexer/report.h"
#include <stdio.h>

enum { FINDINGS_MAX = 1 << 20 };

typedef struct Loading {
    LoadMode mode;
    Arena arena;
    const char *code;
} Loading;

static FlowModule *compile_file(Loading *loading, Str name, Str text) {
    Arena *arena = &loading->arena;
    FlowSource source;
    FlowModule *module = NULL;
    Diag diag;
    if (flow_source_init(&source, name, text, arena, &diag) != OK) {
        fprintf(stderr, "abide: %s\n", diag.message);
        return NULL;
    }
    FlowReport *report = ARENA_NEW(arena, FlowReport);
    flow_report_init(report, &source, arena);
    Status status = loading->mode == LOAD_CHECKED
                        ? flow_compile_checked(report, &module, &diag)
                        : flow_compile(source.name, source.text, &module, report, &diag);
    loading->code = flow_report_refusal(report);
    if (report->count > 0) {
        Buf findings;
        buf_init(&findings, FINDINGS_MAX);
        flow_report_render_text(report, &findings);
        fwrite(findings.data, 1, findings.len, stderr);
        buf_done(&findings);
    }
    return status == OK ? module : NULL;
}

FlowModule *load_module(const char *path, LoadMode mode, Buf *ret_source, const char **ret_code) {
    Loading loading = {.mode = mode, .code = "FILE_NOT_READ"};
    Buf text;
    Diag diag;
    FlowModule *module = NULL;
    arena_init(&loading.arena);
    buf_init(&text, FLOW_SOURCE_MAX);
    if (file_read(path, &text, &diag) != OK) fprintf(stderr, "abide: %s\n", diag.message);
    else module = compile_file(&loading, str_from(path), buf_str(&text));
    if (ret_code) *ret_code = loading.code;
    if (ret_source) buf_append_str(ret_source, buf_str(&text));
    buf_done(&text);
    arena_done(&loading.arena);
    return module;
}
