// The tree as S-expressions, one top-level statement per line.
//
// Made for tests: short enough to write by hand, and complete enough to tell one parse from
// another. What is not shown: positions, flags that follow from the text, and the synthetic
// functions of classes. Recursion is as deep as the tree is high (ast.h [ast-4]).
#include "base/containers/buf.h"
#include "base/text/number.h"
#include "flow/scope/scope.h"
#include "flow/tree/program.h"

typedef struct Printer {
    Buf *text;
    bool shows_access;
} Printer;

static void print_node(Printer *out, const FlowNode *node);

static void print_children(Printer *out, FlowNodeList list) {
    for (uint32_t i = 0; i < list.count; i++) {
        buf_append_char(out->text, ' ');
        print_node(out, list.items[i]);
    }
}

static void open_node(Printer *out, const char *word) { buf_printf(out->text, "(%s", word); }
static void close_node(Printer *out) { buf_append_char(out->text, ')'); }

static void print_part(Printer *out, const FlowNode *node) {
    if (!node) return;
    buf_append_char(out->text, ' ');
    print_node(out, node);
}

static void print_pair(Printer *out, const char *word, const FlowNode *a, const FlowNode *b) {
    open_node(out, word);
    print_part(out, a);
    print_part(out, b);
    close_node(out);
}

static void print_escaped(Printer *out, Str text) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x20 || c == '"' || c == '\\') buf_printf(out->text, "\\x%02X", c);
        else buf_append_char(out->text, (char)c);
    }
}

static void print_quoted(Printer *out, Str text) {
    buf_append_char(out->text, '"');
    print_escaped(out, text);
    buf_append_char(out->text, '"');
}

static void print_reference(Printer *out, const FlowNode *node) {
    buf_append_str(out->text, node->reference.name->text);
    const FlowReference *to = &node->reference.to;
    if (!out->shows_access) return;
    switch ((FlowAccess)to->access) {
    case ACCESS_UNRESOLVED: buf_append_cstr(out->text, "@\x01"); break;
    case ACCESS_LOCAL: buf_append_cstr(out->text, "@local"); break;
    case ACCESS_CELL: buf_append_cstr(out->text, "@cell"); break;
    case ACCESS_CAPTURE: buf_printf(out->text, "@%u", to->capture_index); break;
    case ACCESS_GLOBAL: buf_append_cstr(out->text, "@global"); break;
    }
    if (to->needs_tdz_check) buf_append_char(out->text, '!');
}

static void print_function(Printer *out, const FlowFunction *function) {
    static const char *const kinds[] = {
        [FUNCTION_KIND_NORMAL] = "function",
        [FUNCTION_KIND_ARROW] = "arrow",
        [FUNCTION_KIND_METHOD] = "method",
        [FUNCTION_KIND_GETTER] = "getter",
        [FUNCTION_KIND_SETTER] = "setter",
        [FUNCTION_KIND_CONSTRUCTOR] = "constructor",
        [FUNCTION_KIND_DERIVED_CONSTRUCTOR] = "derived-constructor",
        [FUNCTION_KIND_FIELDS] = "fields",
        [FUNCTION_KIND_STATIC_BLOCK] = "static-block",
        [FUNCTION_KIND_PROGRAM] = "program",
    };
    buf_printf(out->text, "(%s%s%s", function->is_async ? "async-" : "", kinds[function->kind],
               function->is_generator ? "*" : "");
    if (function->name) buf_printf(out->text, " %.*s", STR_ARG(function->name->text));
    buf_append_cstr(out->text, " [");
    for (uint32_t i = 0; i < function->parameters.count; i++) {
        if (i > 0) buf_append_char(out->text, ' ');
        print_node(out, function->parameters.items[i]);
    }
    buf_append_char(out->text, ']');
    print_children(out, function->body);
    close_node(out);
}

static void print_element(Printer *out, const FlowNode *node) {
    static const char *const kinds[] = {"method", "get", "set", "field", "static-block"};
    bool is_static = (node->flags & FLAG_STATIC) && node->op != ELEMENT_STATIC_BLOCK;
    buf_printf(out->text, "(%s%s", is_static ? "static-" : "", kinds[node->op]);
    if (node->flags & FLAG_COMPUTED) buf_append_cstr(out->text, " computed");
    print_part(out, node->element.key);
    print_part(out, node->element.value);
    close_node(out);
}

static void print_class(Printer *out, const FlowClass *class) {
    open_node(out, "class");
    if (class->name) buf_printf(out->text, " %.*s", STR_ARG(class->name->text));
    if (class->heritage) {
        buf_append_cstr(out->text, " extends");
        print_part(out, class->heritage);
    }
    if (class->constructor) {
        buf_append_char(out->text, ' ');
        print_function(out, class->constructor);
    }
    for (uint32_t i = 0; i < class->elements.count; i++) {
        buf_append_char(out->text, ' ');
        print_element(out, class->elements.items[i]);
    }
    close_node(out);
}

static void print_template(Printer *out, const FlowNode *node) {
    open_node(out, "template");
    for (uint32_t i = 0; i <= node->template.expressions.count; i++) {
        const FlowTemplatePart *part = &node->template.parts[i];
        buf_append_char(out->text, ' ');
        if (str_is_null(part->cooked)) {
            buf_append_cstr(out->text, "invalid:");
            print_quoted(out, part->raw);
        } else {
            print_quoted(out, part->cooked);
        }
        if (i < node->template.expressions.count)
            print_part(out, node->template.expressions.items[i]);
    }
    close_node(out);
}

static void print_property(Printer *out, const FlowNode *node) {
    static const char *const kinds[] = {"value", "shorthand", "method", "get", "set", "proto"};
    open_node(out, kinds[node->op]);
    if (node->flags & FLAG_COMPUTED) buf_append_cstr(out->text, " computed");
    if (node->op != PROPERTY_SHORTHAND) print_part(out, node->property.key);
    print_part(out, node->property.value);
    close_node(out);
}

static void print_chain(Printer *out, const FlowNode *node) {
    open_node(out, flow_node_kind_name(node->kind));
    print_part(out, node->chain.first);
    for (uint32_t i = 0; i < node->chain.count; i++) {
        buf_printf(out->text, " %s", flow_operator_text(node->chain.links[i].op));
        print_part(out, node->chain.links[i].operand);
    }
    close_node(out);
}

static void print_call(Printer *out, const FlowNode *node) {
    buf_printf(out->text, "(%s%s", flow_node_kind_name(node->kind),
               node->flags & FLAG_OPTIONAL ? "?" : "");
    print_part(out, node->call.callee);
    print_children(out, node->call.arguments);
    close_node(out);
}

static void print_literal(Printer *out, const FlowNode *node) {
    char number[NUMBER_TEXT_MAX];
    switch (node->kind) {
    case NODE_NUMBER:
        number_format(node->number, number);
        buf_append_cstr(out->text, number);
        return;
    case NODE_BIGINT: buf_printf(out->text, "%.*sn", STR_ARG(node->string.text)); return;
    case NODE_STRING: print_quoted(out, node->string.text); return;
    case NODE_REGEXP:
        buf_append_char(out->text, '/');
        print_escaped(out, node->regexp.pattern);
        buf_printf(out->text, "/%.*s", STR_ARG(node->regexp.flags));
        return;
    default: buf_append_cstr(out->text, flow_node_kind_name(node->kind));
    }
}

static void print_unary(Printer *out, const FlowNode *node) {
    switch (node->kind) {
    case NODE_UNARY: open_node(out, flow_operator_text(node->op)); break;
    case NODE_UPDATE:
        buf_printf(out->text, "(%s%s%s", node->flags & FLAG_PREFIX ? "pre" : "post",
                   flow_operator_text(node->op), flow_operator_text(node->op));
        break;
    case NODE_YIELD: open_node(out, node->flags & FLAG_DELEGATE ? "yield*" : "yield"); break;
    default:
        open_node(out,
                  node->flags & FLAG_DIRECTIVE ? "directive" : flow_node_kind_name(node->kind));
    }
    print_part(out, node->unary.operand);
    close_node(out);
}

static void print_member(Printer *out, const FlowNode *node) {
    const char *sign = node->flags & FLAG_OPTIONAL ? "?." : ".";
    switch (node->kind) {
    case NODE_MEMBER:
        open_node(out, sign);
        print_part(out, node->member.object);
        buf_printf(out->text, " %.*s", STR_ARG(node->member.name->text));
        close_node(out);
        return;
    case NODE_SUPER_MEMBER:
        buf_printf(out->text, "(super. %.*s)", STR_ARG(node->super_access.name->text));
        return;
    case NODE_SUPER_INDEX: print_pair(out, "super[]", node->super_access.index, NULL); return;
    case NODE_INDEX:
        print_pair(out, node->flags & FLAG_OPTIONAL ? "?.[]" : "[]", node->binary.left,
                   node->binary.right);
        return;
    default: print_pair(out, sign, node->binary.left, node->binary.right);
    }
}

static void print_binary(Printer *out, const FlowNode *node) {
    const char *word = flow_node_kind_name(node->kind);
    if (node->kind == NODE_BINARY || node->kind == NODE_LOGICAL || node->kind == NODE_PRIVATE_IN)
        word = flow_operator_text(node->op);
    buf_printf(out->text, "(%s", word);
    if (node->kind == NODE_ASSIGN) buf_printf(out->text, " %s", flow_operator_text(node->op));
    print_part(out, node->binary.left);
    print_part(out, node->binary.right);
    close_node(out);
}

static void print_list(Printer *out, const FlowNode *node) {
    static const char *const kinds[] = {"var", "let", "const"};
    open_node(out,
              node->kind == NODE_VARIABLES ? kinds[node->op] : flow_node_kind_name(node->kind));
    print_children(out, node->list);
    close_node(out);
}

static void print_jump(Printer *out, const FlowNode *node) {
    open_node(out, flow_node_kind_name(node->kind));
    if (node->jump.label) buf_printf(out->text, " %.*s", STR_ARG(node->jump.label->text));
    close_node(out);
}

static void print_loop(Printer *out, const FlowNode *node) {
    open_node(out, node->flags & FLAG_AWAIT ? "for-await" : flow_node_kind_name(node->kind));
    if (node->kind == NODE_FOR) {
        const FlowNode *parts[] = {node->loop->initializer, node->loop->test, node->loop->update};
        for (int i = 0; i < 3; i++) {
            if (parts[i]) print_part(out, parts[i]);
            else buf_append_cstr(out->text, " _");
        }
        print_part(out, node->loop->body);
    } else {
        print_part(out, node->iteration.left);
        print_part(out, node->iteration.right);
        print_part(out, node->iteration.body);
    }
    close_node(out);
}

static void print_switch(Printer *out, const FlowNode *node) {
    if (node->kind == NODE_SWITCH) {
        open_node(out, "switch");
        print_part(out, node->switch_statement.discriminant);
        print_children(out, node->switch_statement.cases);
    } else {
        open_node(out, node->switch_case.test ? "case" : "default");
        print_part(out, node->switch_case.test);
        print_children(out, node->switch_case.body);
    }
    close_node(out);
}

static void print_try(Printer *out, const FlowNode *node) {
    open_node(out, flow_node_kind_name(node->kind));
    if (node->kind == NODE_TRY) {
        print_part(out, node->try_statement.block);
        print_part(out, node->try_statement.handler);
        if (node->try_statement.finalizer) buf_append_cstr(out->text, " finally");
        print_part(out, node->try_statement.finalizer);
    } else {
        print_part(out, node->catch_clause.parameter);
        print_part(out, node->catch_clause.body);
    }
    close_node(out);
}

static void print_branch(Printer *out, const FlowNode *node) {
    open_node(out, node->kind == NODE_IF ? "if" : "?");
    print_part(out, node->conditional.test);
    print_part(out, node->conditional.consequent);
    print_part(out, node->conditional.alternate);
    close_node(out);
}

static void print_named_list(Printer *out, const char *word, FlowNodeList list) {
    open_node(out, word);
    print_children(out, list);
    close_node(out);
}

static void print_labeled(Printer *out, const FlowNode *node) {
    buf_printf(out->text, "(label %.*s", STR_ARG(node->labeled.label->text));
    print_part(out, node->labeled.body);
    close_node(out);
}

static void print_intrinsic(Printer *out, const FlowNode *node) {
    buf_printf(out->text, "(%%%.*s", STR_ARG(node->intrinsic.name->text));
    print_children(out, node->intrinsic.arguments);
    close_node(out);
}

static void print_workflow(Printer *out, const FlowNode *node) {
    buf_append_cstr(out->text, "(workflow ");
    print_function(out, node->function);
    close_node(out);
}

static void print_block(Printer *out, const FlowNode *node) {
    print_named_list(out, "block", node->block.statements);
}

static void print_super_call(Printer *out, const FlowNode *node) {
    print_named_list(out, "super-call", node->super_call.arguments);
}

static void print_function_node(Printer *out, const FlowNode *node) {
    print_function(out, node->function);
}

static void print_class_node(Printer *out, const FlowNode *node) {
    print_class(out, node->class_definition);
}

typedef void PrintFunction(Printer *out, const FlowNode *node);

static PrintFunction *const printers[NODE_KIND_COUNT] = {
    // all others are literals
    [NODE_IDENTIFIER] = print_reference,
    [NODE_THIS] = print_reference,
    [NODE_NEW_TARGET] = print_reference,
    [NODE_PRIVATE_NAME] = print_reference,
    [NODE_TEMPLATE] = print_template,
    [NODE_ARRAY] = print_list,
    [NODE_OBJECT] = print_list,
    [NODE_SEQUENCE] = print_list,
    [NODE_ARRAY_PATTERN] = print_list,
    [NODE_OBJECT_PATTERN] = print_list,
    [NODE_VARIABLES] = print_list,
    [NODE_FUNCTION] = print_function_node,
    [NODE_FUNCTION_DECLARATION] = print_function_node,
    [NODE_WORKFLOW] = print_workflow,
    [NODE_CLASS] = print_class_node,
    [NODE_CLASS_DECLARATION] = print_class_node,
    [NODE_UNARY] = print_unary,
    [NODE_UPDATE] = print_unary,
    [NODE_SPREAD] = print_unary,
    [NODE_AWAIT] = print_unary,
    [NODE_YIELD] = print_unary,
    [NODE_OPTIONAL_CHAIN] = print_unary,
    [NODE_REST] = print_unary,
    [NODE_EXPRESSION_STATEMENT] = print_unary,
    [NODE_RETURN] = print_unary,
    [NODE_THROW] = print_unary,
    [NODE_EXPORT_DEFAULT] = print_unary,
    [NODE_EXPORT_CONFIG] = print_unary,
    [NODE_BINARY] = print_binary,
    [NODE_LOGICAL] = print_binary,
    [NODE_PRIVATE_IN] = print_binary,
    [NODE_ASSIGN] = print_binary,
    [NODE_DEFAULT] = print_binary,
    [NODE_DECLARATOR] = print_binary,
    [NODE_WHILE] = print_binary,
    [NODE_DO_WHILE] = print_binary,
    [NODE_BINARY_CHAIN] = print_chain,
    [NODE_LOGICAL_CHAIN] = print_chain,
    [NODE_CONDITIONAL] = print_branch,
    [NODE_IF] = print_branch,
    [NODE_MEMBER] = print_member,
    [NODE_INDEX] = print_member,
    [NODE_PRIVATE_MEMBER] = print_member,
    [NODE_SUPER_MEMBER] = print_member,
    [NODE_SUPER_INDEX] = print_member,
    [NODE_CALL] = print_call,
    [NODE_NEW] = print_call,
    [NODE_TAGGED] = print_call,
    [NODE_SUPER_CALL] = print_super_call,
    [NODE_INTRINSIC] = print_intrinsic,
    [NODE_PROPERTY] = print_property,
    [NODE_CLASS_ELEMENT] = print_element,
    [NODE_BLOCK] = print_block,
    [NODE_FOR] = print_loop,
    [NODE_FOR_IN] = print_loop,
    [NODE_FOR_OF] = print_loop,
    [NODE_BREAK] = print_jump,
    [NODE_CONTINUE] = print_jump,
    [NODE_TRY] = print_try,
    [NODE_CATCH] = print_try,
    [NODE_SWITCH] = print_switch,
    [NODE_CASE] = print_switch,
    [NODE_LABELED] = print_labeled,
};

static void print_node(Printer *out, const FlowNode *node) {
    if (!node) buf_append_cstr(out->text, "hole");
    else if (printers[node->kind]) printers[node->kind](out, node);
    else print_literal(out, node);
}

void flow_ast_print(const FlowProgram *program, bool shows_access, Buf *ret_text) {
    Printer printer = {ret_text, shows_access};
    FlowNodeList body = program->main->body;
    for (uint32_t i = 0; i < body.count; i++) {
        if (i > 0) buf_append_char(ret_text, '\n');
        print_node(&printer, body.items[i]);
    }
}
