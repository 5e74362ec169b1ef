// What an expression may consist of: everything that reads.
//
// The list is of what is allowed, so a form that the language gains later is refused until somebody
// has thought about it. What a call does is not seen here; evaluate.c compares the run before and
// after.
#include "base/array.h"
#include "flow/check/api.h"
#include "flow/evaluate/internal.h"

static void look(ExpressionShape *s, const FlowNode *node);

static void refuse(ExpressionShape *s, const FlowNode *node, const char *what) {
    if (!s->refusal.node) s->refusal = (Refusal){node, what};
}

static void look_list(ExpressionShape *s, FlowNodeList list) {
    for (uint32_t i = 0; i < list.count; i++)
        if (list.items[i]) look(s, list.items[i]);
}

static bool is_known(const ExpressionNames *names, Str name) {
    for (uint32_t i = 0; i < names->count; i++)
        if (str_equal(names->names[i], name)) return true;
    return false;
}

// The objects of our own API, apart from those that only tell something.
static bool is_acting(Str name) {
    if (str_equal(name, STR("console"))) return true;
    if (str_equal(name, STR("Context")) || str_equal(name, STR("Inputs"))) return false;
    for (const FlowApiObject *object = flow_api_objects; object->name; object++)
        if (str_equal(name, str_from(object->name))) return true;
    return flow_api_function(name) != NULL;
}

static void look_name(ExpressionShape *s, const FlowNode *node) {
    if (node->reference.to.access != ACCESS_GLOBAL) return;
    Str name = node->reference.name->text;
    if (is_acting(name)) {
        refuse(s, node, "a call of the workflow API");
        return;
    }
    ExpressionNames *names = &s->names;
    if (is_known(names, name)) return;
    if (names->count == FLOW_EXPRESSION_NAMES_MAX) names->is_too_many = true;
    else names->names[names->count++] = name;
}

static void look_pattern(ExpressionShape *s, const FlowNode *node) {
    switch ((FlowNodeKind)node->kind) {
    case NODE_IDENTIFIER: return;
    case NODE_DEFAULT:
        look_pattern(s, node->binary.left);
        look(s, node->binary.right);
        return;
    case NODE_REST: look_pattern(s, node->unary.operand); return;
    case NODE_PROPERTY:
        if (node->flags & FLAG_COMPUTED) look(s, node->property.key);
        look_pattern(s, node->property.value);
        return;
    case NODE_ARRAY_PATTERN:
    case NODE_OBJECT_PATTERN:
        for (uint32_t i = 0; i < node->list.count; i++)
            if (node->list.items[i]) look_pattern(s, node->list.items[i]);
        return;
    default: refuse(s, node, "an assignment");
    }
}

static void look_statement(ExpressionShape *s, const FlowNode *node) {
    switch ((FlowNodeKind)node->kind) {
    case NODE_RETURN:
        if (node->unary.operand) look(s, node->unary.operand);
        return;
    case NODE_EXPRESSION_STATEMENT: look(s, node->unary.operand); return;
    case NODE_IF:
        look(s, node->conditional.test);
        look_statement(s, node->conditional.consequent);
        if (node->conditional.alternate) look_statement(s, node->conditional.alternate);
        return;
    case NODE_BLOCK:
        for (uint32_t i = 0; i < node->block.statements.count; i++)
            look_statement(s, node->block.statements.items[i]);
        return;
    case NODE_VARIABLES:
        for (uint32_t i = 0; i < node->list.count; i++) {
            look_pattern(s, node->list.items[i]->binary.left);
            if (node->list.items[i]->binary.right) look(s, node->list.items[i]->binary.right);
        }
        return;
    case NODE_EMPTY: return;
    default: refuse(s, node, "a statement of this kind");
    }
}

static void look_function(ExpressionShape *s, const FlowNode *node) {
    const FlowFunction *function = node->function;
    if (function->is_async || function->is_generator) {
        refuse(s, node, "an async function or a generator");
        return;
    }
    for (uint32_t i = 0; i < function->parameters.count; i++)
        look_pattern(s, function->parameters.items[i]);
    if (function->has_expression_body) {
        look(s, function->body.items[0]);
        return;
    }
    for (uint32_t i = 0; i < function->body.count; i++) look_statement(s, function->body.items[i]);
}

static void look_property(ExpressionShape *s, const FlowNode *node) {
    if (node->op != PROPERTY_VALUE && node->op != PROPERTY_SHORTHAND) {
        refuse(s, node, "a method, an accessor or __proto__");
        return;
    }
    if (node->flags & FLAG_COMPUTED) look(s, node->property.key);
    look(s, node->property.value);
}

static void look_chain(ExpressionShape *s, const FlowNode *node) {
    look(s, node->chain.first);
    for (uint32_t i = 0; i < node->chain.count; i++) look(s, node->chain.links[i].operand);
}

// Built-ins that read and do nothing else, whatever object of the language they are called on.
static bool is_reading(const FlowNode *callee) {
    static const char *const names[] = {
        "abs",     "at",          "ceil",        "charAt",   "concat",  "endsWith",  "entries",
        "every",   "filter",      "find",        "findLast", "flat",    "flatMap",   "floor",
        "get",     "getTime",     "has",         "includes", "indexOf", "isArray",   "isInteger",
        "join",    "keys",        "lastIndexOf", "map",      "max",     "min",       "now",
        "parse",   "reduce",      "round",       "slice",    "some",    "split",     "startsWith",
        "toFixed", "toISOString", "toLowerCase", "toString", "trim",    "stringify", "substring",
        "trunc",   "values",      "toUpperCase", "padStart", "padEnd",  "hasOwn",    "findIndex",
    };
    if (callee->kind != NODE_MEMBER) return false;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_equal(callee->member.name->text, str_from(names[i]))) return true;
    return false;
}

static void look_call(ExpressionShape *s, const FlowNode *node) {
    s->has_calls = true;
    if (!is_reading(node->call.callee)) s->has_unknown_calls = true;
    look(s, node->call.callee);
    look_list(s, node->call.arguments);
}

static void look_refused(ExpressionShape *s, const FlowNode *node) {
    switch ((FlowNodeKind)node->kind) {
    case NODE_ASSIGN: refuse(s, node, "an assignment"); return;
    case NODE_UPDATE: refuse(s, node, "an assignment (++ or --)"); return;
    case NODE_AWAIT: refuse(s, node, "await"); return;
    case NODE_CLASS: refuse(s, node, "a class"); return;
    case NODE_TAGGED: refuse(s, node, "a tagged template"); return;
    default: refuse(s, node, "a form of this kind");
    }
}

static void look(ExpressionShape *s, const FlowNode *node) {
    switch ((FlowNodeKind)node->kind) {
    case NODE_NULL:
    case NODE_TRUE:
    case NODE_FALSE:
    case NODE_NUMBER:
    case NODE_BIGINT:
    case NODE_STRING:
    case NODE_REGEXP:
    case NODE_THIS: return;
    case NODE_TEMPLATE: look_list(s, node->template.expressions); return;
    case NODE_ARRAY:
    case NODE_OBJECT:
    case NODE_SEQUENCE: look_list(s, node->list); return;
    case NODE_PROPERTY: look_property(s, node); return;
    case NODE_FUNCTION: look_function(s, node); return;
    case NODE_IDENTIFIER: look_name(s, node); return;
    case NODE_UNARY:
        if (node->op == OPERATOR_DELETE) refuse(s, node, "delete");
        else look(s, node->unary.operand);
        return;
    case NODE_SPREAD:
    case NODE_OPTIONAL_CHAIN: look(s, node->unary.operand); return;
    case NODE_BINARY:
    case NODE_LOGICAL:
    case NODE_INDEX:
        look(s, node->binary.left);
        look(s, node->binary.right);
        return;
    case NODE_BINARY_CHAIN:
    case NODE_LOGICAL_CHAIN: look_chain(s, node); return;
    case NODE_CONDITIONAL:
        look(s, node->conditional.test);
        look(s, node->conditional.consequent);
        look(s, node->conditional.alternate);
        return;
    case NODE_MEMBER: look(s, node->member.object); return;
    case NODE_CALL:
    case NODE_NEW: look_call(s, node); return;
    default: look_refused(s, node);
    }
}

void expression_look(const FlowNode *node, ExpressionShape *ret) { look(ret, node); }
