// Descriptions: how an expression is named in "x.y is not a function", in V8's manner.
//
// The texts are part of error messages that scripts and people compare with Node's.
//
// V8 prints names, literals, operators and member chains, "f(...)" for calls, and "(intermediate
// value)" for what has no short form. Texts are cut at DESCRIPTION_MAX bytes.

#include "base/text/number.h"
#include "flow/compile/nodes.h"

typedef struct Text {
    char data[DESCRIPTION_MAX + 4];
    size_t len;
    bool omits_calls; // f().g is f.g: V8 does so for what is iterated at once
} Text;

static void text_add(Text *text, Str s) {
    size_t room = DESCRIPTION_MAX - text->len;
    size_t len = s.len < room ? s.len : room;
    while (len < s.len && len > 0 && ((uint8_t)s.data[len] & 0xC0) == 0x80) len--;
    memcpy(text->data + text->len, s.data, len);
    text->len += len;
}

static void describe_into(Text *text, const FlowNode *node);

static void describe_binary(Text *text, const FlowNode *left, uint8_t op, const FlowNode *right) {
    text_add(text, STR("("));
    describe_into(text, left);
    text_add(text, STR(" "));
    text_add(text, str_from(flow_operator_text((FlowOperator)op)));
    text_add(text, STR(" "));
    describe_into(text, right);
    text_add(text, STR(")"));
}

static void describe_list(Text *text, const FlowNodeList *list, Str separator) {
    for (uint32_t i = 0; i < list->count && text->len < DESCRIPTION_MAX; i++) {
        if (i > 0) text_add(text, separator);
        if (list->items[i]) describe_into(text, list->items[i]);
    }
}

static void describe_literal(Text *text, const FlowNode *node) {
    char number[NUMBER_TEXT_MAX];
    switch (node->kind) {
    case NODE_NUMBER: text_add(text, (Str){number, number_format(node->number, number)}); break;
    case NODE_STRING:
        text_add(text, STR("\""));
        text_add(text, node->string.text);
        text_add(text, STR("\""));
        break;
    case NODE_REGEXP:
        text_add(text, STR("/"));
        text_add(text, node->regexp.pattern);
        text_add(text, STR("/"));
        text_add(text, node->regexp.flags);
        break;
    case NODE_ARRAY:
        text_add(text, STR("["));
        describe_list(text, &node->list, STR(","));
        text_add(text, STR("]"));
        break;
    case NODE_TEMPLATE: // what is in it, one after the other; the text between does not count
        if (node->template.expressions.count > 0) {
            describe_list(text, &node->template.expressions, STR(""));
            break;
        }
        text_add(text, STR("\""));
        text_add(text, node->template.parts[0].cooked);
        text_add(text, STR("\""));
        break;
    default: break;
    }
}

static void describe_index(Text *text, const FlowNode *node) {
    const FlowNode *index = node->binary.right;
    describe_into(text, node->binary.left);
    bool is_text = index->kind == NODE_STRING ||
                   (index->kind == NODE_TEMPLATE && index->template.expressions.count == 0);
    if (is_text) {
        text_add(text, node->flags & FLAG_OPTIONAL ? STR("?.") : STR("."));
        text_add(text,
                 index->kind == NODE_STRING ? index->string.text : index->template.parts[0].cooked);
        return;
    }
    text_add(text, node->flags & FLAG_OPTIONAL ? STR("?.[") : STR("["));
    describe_into(text, index);
    text_add(text, STR("]"));
}

static void describe_unary(Text *text, const FlowNode *node) {
    if (node->op == OPERATOR_NEGATE && node->unary.operand->kind == NODE_NUMBER) {
        text_add(text, STR("-"));
        describe_into(text, node->unary.operand);
        return;
    }
    bool is_word =
        node->op == OPERATOR_TYPEOF || node->op == OPERATOR_VOID || node->op == OPERATOR_DELETE;
    text_add(text, STR("("));
    text_add(text, str_from(flow_operator_text((FlowOperator)node->op)));
    if (is_word) text_add(text, STR(" "));
    describe_into(text, node->unary.operand);
    text_add(text, STR(")"));
}

static void describe_chained(Text *text, const FlowNode *node) {
    switch (node->kind) {
    case NODE_MEMBER:
        describe_into(text, node->member.object);
        text_add(text, node->flags & FLAG_OPTIONAL ? STR("?.") : STR("."));
        text_add(text, node->member.name->text);
        break;
    case NODE_PRIVATE_MEMBER:
        describe_into(text, node->binary.left);
        text_add(text, STR("."));
        text_add(text, node->binary.right->reference.name->text);
        break;
    case NODE_SUPER_MEMBER:
        text_add(text, STR("(intermediate value)."));
        text_add(text, node->super_access.name->text);
        break;
    case NODE_CALL:
        describe_into(text, node->call.callee);
        if (text->omits_calls) break;
        text_add(text, node->flags & FLAG_OPTIONAL ? STR("?.(...)") : STR("(...)"));
        break;
    default: describe_index(text, node); break;
    }
}

static void describe_into(Text *text, const FlowNode *node) {
    if (text->len >= DESCRIPTION_MAX) return;
    switch (node->kind) {
    case NODE_IDENTIFIER: text_add(text, node->reference.name->text); break;
    case NODE_THIS: text_add(text, STR("this")); break;
    case NODE_NULL: text_add(text, STR("null")); break;
    case NODE_TRUE: text_add(text, STR("true")); break;
    case NODE_FALSE: text_add(text, STR("false")); break;
    case NODE_NUMBER:
    case NODE_STRING:
    case NODE_REGEXP:
    case NODE_TEMPLATE:
    case NODE_ARRAY: describe_literal(text, node); break;
    case NODE_OBJECT:
        text_add(text, node->list.count == 0 ? STR("{}") : STR("{(intermediate value)}"));
        break;
    case NODE_MEMBER:
    case NODE_INDEX:
    case NODE_PRIVATE_MEMBER:
    case NODE_SUPER_MEMBER:
    case NODE_CALL: describe_chained(text, node); break;
    case NODE_TAGGED:
        describe_into(text, node->call.callee);
        if (!text->omits_calls) text_add(text, STR("(...)"));
        break;
    case NODE_OPTIONAL_CHAIN: describe_into(text, node->unary.operand); break;
    case NODE_UNARY: describe_unary(text, node); break;
    case NODE_BINARY:
    case NODE_LOGICAL:
        describe_binary(text, node->binary.left, node->op, node->binary.right);
        break;
    case NODE_SEQUENCE:
        text_add(text, STR("("));
        describe_list(text, &node->list, STR(" , "));
        text_add(text, STR(")"));
        break;
    case NODE_CONDITIONAL:
        text_add(text, STR("(intermediate value)(intermediate value)(intermediate value)"));
        break;
    default: text_add(text, STR("(intermediate value)")); break;
    }
}

FlowValue describe_node(FlowCompiler *c, const FlowNode *node) {
    Text text = {.len = 0};
    if (node->kind == NODE_IDENTIFIER) return name_atom(c, node->reference.name);
    describe_into(&text, node);
    return flow_module_string(c->module, (Str){text.data, text.len});
}

static bool node_is_call(const FlowNode *node) {
    return node->kind == NODE_CALL || node->kind == NODE_TAGGED;
}

FlowValue describe_callee(FlowCompiler *c, const FlowNode *call) {
    if (call != c->iterated) return describe_node(c, call->call.callee);
    Text text = {.omits_calls = true};
    describe_into(&text, call->call.callee);
    return flow_module_string(c->module, (Str){text.data, text.len});
}

FlowValue describe_iterated(FlowCompiler *c, const FlowNode *node) {
    if (node->kind == NODE_IDENTIFIER) return describe_node(c, node);
    Text text = {.omits_calls = true};
    describe_into(&text, node);
    if (node_is_call(node)) text_add(&text, STR("(...)")); // by which the VM knows a call
    return flow_module_string(c->module, (Str){text.data, text.len});
}
