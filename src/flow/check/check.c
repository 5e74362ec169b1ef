// The check: one walk over the tree, then what only the whole file decides.
//
// Invariants [check-1]-[check-3] are in check.h.
//
// Not here: early errors of ECMAScript (parse_*, scope_*), names that are refused (refused.c), the
// config (config.c), what the workflow API is (check/api.c).
#include "flow/check/internal.h"

void check_say(Checker *c, const FlowFinding *finding, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    flow_report_add_list(c->report, finding, format, arguments);
    va_end(arguments);
}

void flow_check(const FlowProgram *program, Arena *arena, FlowReport *report) {
    Checker checker = {.program = program, .arena = arena, .report = report};
    Checker *c = &checker;
    size_t size = ((size_t)program->name_count + 1) * sizeof(CheckGlobal *);
    c->globals = arena_zalloc(arena, size);
    map_init(&c->async_constants);
    check_walk(c, program->main);
    check_settle_names(c);
    check_settle_calls(c);
    check_settle_promises(c);
    map_done(&c->async_constants);
    vec_free(&c->names);
    vec_free(&c->members);
    vec_free(&c->tested);
    vec_free(&c->promises);
    vec_free(&c->calls);
}
