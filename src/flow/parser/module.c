// The top level of a file: which of the three forms it has, its workflows, its config.
//
//   (a) the file is the workflow: statements with await and return
//   (b) workflow name(inputs) { … }, one or more
//   (c) export default function
//
// Declarations may stand beside (b) and (c). Forms that exclude each other are told apart after
// the whole file has been read, so that one hint can say what to change.
#include "flow/parser/internal.h"

// ---- config

// Answers the first part of `node` that is not a literal, NULL when all is.
static const FlowNode *find_not_literal(const FlowNode *node) {
    switch (node->kind) {
    case NODE_NULL:
    case NODE_TRUE:
    case NODE_FALSE:
    case NODE_NUMBER:
    case NODE_STRING: return NULL;
    case NODE_TEMPLATE: return node->template.expressions.count > 0 ? node : NULL;
    case NODE_UNARY:
        return node->op == OPERATOR_NEGATE && node->unary.operand->kind == NODE_NUMBER ? NULL
                                                                                       : node;
    case NODE_ARRAY:
        for (uint32_t i = 0; i < node->list.count; i++) {
            if (!node->list.items[i]) return node;
            const FlowNode *found = find_not_literal(node->list.items[i]);
            if (found) return found;
        }
        return NULL;
    case NODE_OBJECT:
        for (uint32_t i = 0; i < node->list.count; i++) {
            const FlowNode *item = node->list.items[i];
            if (item->kind != NODE_PROPERTY || item->op != PROPERTY_VALUE ||
                (item->flags & FLAG_COMPUTED))
                return item;
            const FlowNode *found = find_not_literal(item->property.value);
            if (found) return found;
        }
        return NULL;
    default: return node;
    }
}

static void check_config(FlowParser *p, FlowNode *variables) {
    const char *hint = "It is read when the file is loaded, before any code runs: write strings, "
                       "numbers, true, false, null, arrays and objects of these";
    FlowNode *declarator = variables->list.items[0];
    FlowNode *value = declarator->binary.right;
    FlowNode *target = declarator->binary.left;
    bool is_right = variables->list.count == 1 && target->kind == NODE_IDENTIFIER &&
                    target->reference.name == p->names.config;
    if (!is_right) {
        parse_error(p,
                    &(FlowFinding){.code = FLOW_ERROR_FORM,
                                   .start = variables->start,
                                   .end = variables->end,
                                   .hint = "A workflow file exports only `config` and a default "
                                           "function; remove `export`"},
                    "Only `config` can be exported");
        return;
    }
    if (!value) return; // reported as a missing initializer
    const FlowNode *wrong = value->kind == NODE_OBJECT ? find_not_literal(value) : value;
    if (wrong)
        parse_error(
            p,
            &(FlowFinding){
                .code = FLOW_ERROR_CONFIG, .start = wrong->start, .end = wrong->end, .hint = hint},
            value->kind == NODE_OBJECT ? "`config` must be a literal: this is not"
                                       : "`config` must be an object literal");
    p->config = value;
}

// ---- export

static void add_entry(FlowParser *p, FlowNode *node, FlowName *name, FlowForm form) {
    if (p->form != FORM_BODY && p->form != form) {
        parse_error(p,
                    &(FlowFinding){.code = FLOW_ERROR_FORM,
                                   .start = node->start,
                                   .end = node->start + (form == FORM_DEFAULT ? 14 : 8),
                                   .hint = "Turn the default export into a `workflow name(inputs) "
                                           "{ … }` block, or keep only the default export"},
                    "A file has either workflow blocks or a default export, not both");
    } else if (form == FORM_DEFAULT && p->entries.count > 0) {
        parse_error(
            p,
            &(FlowFinding){.code = FLOW_ERROR_FORM, .start = node->start, .end = node->start + 14},
            "Duplicate export of 'default'");
    }
    p->form = form;
    vec_push(&p->entries, (FlowEntry){.name = name, .node = node});
}

static bool is_function_value(const FlowNode *node) {
    return node->kind == NODE_FUNCTION || node->kind == NODE_IDENTIFIER;
}

static FlowNode *parse_default_value(FlowParser *p) {
    uint32_t start = p->token.start;
    bool is_async = false;
    FlowToken next = parse_peek(p);
    if (p->token.kind == TOKEN_ASYNC && next.kind == TOKEN_FUNCTION && !next.is_after_newline) {
        is_async = true;
        parse_next(p);
        next = parse_peek(p);
    }
    if (p->token.kind == TOKEN_FUNCTION) {
        bool is_anonymous = next.kind == TOKEN_PAREN_OPEN;
        if (next.kind == TOKEN_MULTIPLY)
            parse_panic(p, FLOW_ERROR_FORM, "A workflow cannot be a generator function",
                        "Use `export default async function`");
        return is_anonymous ? parse_function_expression(p, start, is_async)
                            : parse_function_declaration(p, start, is_async);
    }
    FlowNode *value = parse_assignment(p);
    parse_semicolon(p);
    if (!is_function_value(value))
        parse_error(p,
                    &(FlowFinding){.code = FLOW_ERROR_FORM,
                                   .start = value->start,
                                   .end = value->end,
                                   .hint = "Write `export default async function (inputs) "
                                           "{ … }`"},
                    "The default export of a workflow file must be a function");
    return value;
}

static FlowNode *parse_export_default(FlowParser *p, uint32_t start) {
    parse_next(p);
    FlowNode *value = parse_default_value(p);
    FlowNode *node = parse_unary_node(p, NODE_EXPORT_DEFAULT, start, value);
    FlowName *name = value->kind == NODE_IDENTIFIER ? value->reference.name
                     : value->kind == NODE_FUNCTION || value->kind == NODE_FUNCTION_DECLARATION
                         ? value->function->name
                         : NULL;
    if (!p->is_panicking) add_entry(p, node, name, FORM_DEFAULT);
    return node;
}

static FlowNode *parse_export(FlowParser *p) {
    uint32_t start = p->token.start;
    parse_next(p);
    if (p->token.kind == TOKEN_DEFAULT) return parse_export_default(p, start);
    if (p->token.kind != TOKEN_CONST) {
        bool is_variable = p->token.kind == TOKEN_LET || p->token.kind == TOKEN_VAR;
        if (token_is_word(p->token.kind) || p->token.kind == TOKEN_BRACE_OPEN ||
            p->token.kind == TOKEN_MULTIPLY)
            parse_panic(p, FLOW_ERROR_FORM,
                        is_variable ? "`config` must be exported with `const`"
                                    : "Only `config` and a default function can be exported",
                        "A workflow file exports only `config` and a default function; remove "
                        "`export`");
        else parse_unexpected(p);
        return parse_node(p, NODE_EMPTY, start);
    }
    FlowNode *variables = parse_variables(p, false);
    parse_semicolon(p);
    FlowNode *node = parse_unary_node(p, NODE_EXPORT_CONFIG, start, variables);
    if (!p->is_panicking) check_config(p, variables);
    return node;
}

// ---- workflow blocks

static FlowNode *parse_workflow(FlowParser *p) {
    uint32_t start = p->token.start;
    parse_next(p);
    p->binding_kind = VARIABLE_FUNCTION;
    FlowFunctionHead head = {
        .kind = FUNCTION_KIND_NORMAL, .is_async = true, .is_hoisted = true, .start = start};
    head.name_node = parse_binding_identifier(p);
    head.name = head.name_node->reference.name;
    if (p->token.kind != TOKEN_PAREN_OPEN)
        parse_panic(p, FLOW_ERROR_FORM, "Expected `(` after the name of the workflow",
                    "Write `workflow name(inputs) { … }`");
    FlowFunction *function = parse_function_rest(p, &head);
    FlowNode *node = parse_node(p, NODE_WORKFLOW, start);
    node->function = function;
    if (function->parameters.count > 1) {
        const FlowNode *second = function->parameters.items[1];
        parse_error_node(p, second, FLOW_ERROR_FORM, "A workflow has one parameter: its input");
    }
    if (!p->is_panicking) add_entry(p, node, head.name, FORM_WORKFLOWS);
    return node;
}

static bool is_workflow(FlowParser *p) {
    if (p->token.kind != TOKEN_WORKFLOW || p->mode == FLOW_PARSE_PRELUDE) return false;
    FlowToken next = parse_peek(p);
    return token_is_identifier(next.kind) && !next.is_after_newline;
}

// ---- the program

static FlowNode *parse_top_item(FlowParser *p) {
    if (p->token.kind == TOKEN_EXPORT && p->mode == FLOW_PARSE_WORKFLOW) return parse_export(p);
    if (is_workflow(p)) return parse_workflow(p);
    return parse_statement_item(p);
}

static void check_form(FlowParser *p) {
    if (p->form != FORM_WORKFLOWS && p->form != FORM_DEFAULT) return;
    const char *what = p->form == FORM_WORKFLOWS ? "workflow blocks" : "a default export";
    if (p->top_return_at != OFFSET_NONE)
        parse_error(p,
                    &(FlowFinding){.code = FLOW_ERROR_FORM,
                                   .start = p->top_return_at,
                                   .end = p->top_return_at + 6,
                                   .hint = "Move the statement into the workflow"},
                    "Illegal return statement: this file has %s", what);
    if (p->form == FORM_WORKFLOWS && p->top_await_at != OFFSET_NONE)
        parse_error(p,
                    &(FlowFinding){.code = FLOW_ERROR_FORM,
                                   .start = p->top_await_at,
                                   .end = p->top_await_at + 5,
                                   .hint = "Move the statement into one of the workflows"},
                    "`await` beside workflow blocks: a file has either workflow blocks or is "
                    "itself the workflow");
}

static void parse_top_level(FlowParser *p, FlowFunction *main) {
    size_t mark = parse_list_begin(p);
    parse_push_directives(p);
    while (p->token.kind != TOKEN_END) {
        uint32_t start = p->token.start;
        p->height = 0;
        FlowNode *item = parse_top_item(p);
        if (p->is_panicking) parse_recover(p, start);
        else parse_list_push(p, item);
    }
    main->body = parse_list_end(p, mark);
}

FlowProgram *parse_program(FlowParser *p) {
    FlowFunction *main = parse_function_new(p, FUNCTION_KIND_PROGRAM, 0);
    main->is_async = p->mode == FLOW_PARSE_WORKFLOW;
    FlowFunctionContext context;
    parse_context_begin(p, &context, main);
    parse_top_level(p, main);
    check_form(p);
    parse_context_end(p, &context);
    if (p->entries.count == 0 && p->form == FORM_BODY) vec_push(&p->entries, (FlowEntry){0});
    FlowProgram *program = ARENA_NEW(p->arena, FlowProgram);
    program->main = main;
    program->form = p->form;
    program->config = p->config;
    program->entry_count = (uint32_t)p->entries.count;
    program->entries = ARENA_ARRAY(p->arena, FlowEntry, p->entries.count + 1);
    if (p->entries.count > 0)
        memcpy(program->entries, p->entries.data, p->entries.count * sizeof(FlowEntry));
    program->name_count = p->names.count;
    program->function_count = p->function_count;
    return program;
}
