// Expressions: from text to something that can be run where the names are bound.
//
//   [expression-1] The text is one expression and nothing else. It is parsed as the top level of a
//        plain function body; that its only statement is an expression is what makes the
//        parentheses that expression_variant puts around it harmless.
//   [expression-2] A variant is compiled once for each set of bound names, not for each run: the
//        places of one script where the same names are variables share it.
#include "base/memory.h"
#include "flow/evaluate/internal.h"

static Status invalid(Diag *diag, const char *what) {
    return diag_set(diag, ERR_INVALID, "EXPRESSION_INVALID", "%s", what);
}

// --- parsing

typedef struct Attempt { // one way to parse the text
    FlowSource source;
    FlowReport report;
    FlowProgram *program; // NULL: the report says why not
} Attempt;

static Status attempt_parse(Str text, FlowParseMode mode, Arena *arena, Attempt *ret, Diag *diag) {
    TRY(flow_source_init(&ret->source, STR("expression"), text, arena, diag));
    flow_report_init(&ret->report, &ret->source, arena);
    ret->program = flow_parse(&ret->source, mode, arena, &ret->report);
    return OK;
}

// The one expression of the program; NULL: it is something else. [expression-1]
static const FlowNode *only_expression(const FlowProgram *program) {
    const FlowNodeList *body = &program->main->body;
    bool is_one = body->count == 1 && body->items[0]->kind == NODE_EXPRESSION_STATEMENT;
    return is_one ? body->items[0]->unary.operand : NULL;
}

static Status refused(const Attempt *attempt, const Refusal *refusal, Diag *diag) {
    FlowPosition at = flow_source_position(&attempt->source, refusal->node->start);
    return diag_set(diag, ERR_INVALID, "EXPRESSION_REFUSED",
                    "an expression only reads: at line %u, column %u stands %s", at.line, at.column,
                    refusal->what);
}

static Status check_shape(const Attempt *attempt, const FlowNode *node, ExpressionShape *ret,
                          Diag *diag) {
    *ret = (ExpressionShape){0};
    expression_look(node, ret);
    if (ret->refusal.node) return refused(attempt, &ret->refusal, diag);
    if (ret->names.is_too_many) return invalid(diag, "the expression mentions too many names");
    return OK;
}

// A text that is no plain expression may still be one of a script, with await: then say so.
static Status explain(Str text, Arena *arena, Diag *diag) {
    Attempt *attempt = ARENA_NEW(arena, Attempt);
    TRY(attempt_parse(text, FLOW_PARSE_WORKFLOW, arena, attempt, diag));
    const FlowNode *node = attempt->program ? only_expression(attempt->program) : NULL;
    ExpressionShape *shape = ARENA_NEW(arena, ExpressionShape);
    if (node) TRY(check_shape(attempt, node, shape, diag));
    Diag first = {0};
    flow_report_first(&attempt->report, &first);
    return invalid(diag, first.message[0] ? first.message
                                          : "this is not an expression such as order.total > 100");
}

static Status parse_into(FlowExpression *expression, Str text, Arena *arena, Diag *diag) {
    Attempt *attempt = ARENA_NEW(arena, Attempt);
    TRY(attempt_parse(text, FLOW_PARSE_PRELUDE, arena, attempt, diag));
    if (!attempt->program) return explain(text, arena, diag);
    const FlowNode *node = only_expression(attempt->program);
    if (!node) return invalid(diag, "this is not one expression such as order.total > 100");
    const FlowNode *statement = attempt->program->main->body.items[0];
    if (text.data[statement->end - 1] == ';')
        return invalid(diag, "an expression has no ; behind it");
    TRY(check_shape(attempt, node, &expression->shape, diag));
    for (uint32_t i = 0; i < expression->shape.names.count; i++) {
        Str *name = &expression->shape.names.names[i];
        *name = arena_str(&expression->arena, *name);
    }
    return OK;
}

Status flow_expression_parse(Str text, FlowExpression **ret, Diag *diag) {
    if (text.len > FLOW_EXPRESSION_MAX) {
        return diag_set(diag, ERR_INVALID, "EXPRESSION_INVALID",
                        "an expression may have %d bytes, this one has %zu", FLOW_EXPRESSION_MAX,
                        text.len);
    }
    FlowExpression *expression = mem_zalloc(sizeof *expression);
    arena_init(&expression->arena);
    expression->text = arena_str(&expression->arena, text);
    Arena arena;
    arena_init(&arena);
    Status status = parse_into(expression, expression->text, &arena, diag);
    arena_done(&arena);
    if (status != OK) {
        flow_expression_free(expression);
        return status;
    }
    *ret = expression;
    return OK;
}

void flow_expression_free(FlowExpression *expression) {
    if (!expression) return;
    for (uint32_t i = 0; i < expression->variant_count; i++) {
        flow_module_release(expression->variants[i].module);
    }
    arena_done(&expression->arena);
    mem_free(expression);
}

// --- compiling

static Status compile_variant(FlowExpression *expression, uint64_t bound, FlowModule **ret_module,
                              Diag *diag) {
    Buf source;
    buf_init(&source, (size_t)FLOW_EXPRESSION_MAX * 4);
    buf_append_cstr(&source, "(function (");
    const ExpressionNames *names = &expression->shape.names;
    const char *comma = "";
    for (uint32_t i = 0; i < names->count; i++) {
        if (!(bound >> i & 1)) continue;
        buf_printf(&source, "%s%.*s", comma, STR_ARG(names->names[i]));
        comma = ", ";
    }
    buf_printf(&source, ") { return (\n%.*s\n) })", STR_ARG(expression->text));
    Diag inner = {0};
    Status status = flow_compile(STR("expression"), buf_str(&source), ret_module, NULL, &inner);
    buf_done(&source);
    if (status == OK) return OK;
    return diag_set(diag, status, "EXPRESSION_INVALID", "%s", inner.message);
}

Status expression_variant(FlowExpression *expression, uint64_t bound, const FlowModule **ret_module,
                          Diag *diag) {
    for (uint32_t i = 0; i < expression->variant_count; i++) { // [expression-2]
        if (expression->variants[i].bound != bound) continue;
        *ret_module = expression->variants[i].module;
        return OK;
    }
    FlowModule *module = NULL;
    TRY(compile_variant(expression, bound, &module, diag));
    uint32_t at = expression->next_variant++ % EXPRESSION_VARIANTS_MAX;
    if (at < expression->variant_count) flow_module_release(expression->variants[at].module);
    else expression->variant_count++;
    expression->variants[at] = (ExpressionVariant){bound, module};
    *ret_module = module;
    return OK;
}
