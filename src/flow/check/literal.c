// Literals as JSON values, so that the same rules can be held against them as at run time.
//
// What a literal does not tell (a call, a variable, anything computed) is API_UNKNOWN_VALUE. A
// member with a computed name, and one that is spread, has no key; beside a spread one nothing is
// known of the values of the others, because it may replace them.
#include "flow/check/internal.h"

static CheckLiteral *literal_new(Arena *arena, const FlowNode *node, int kind) {
    CheckLiteral *literal = ARENA_NEW(arena, CheckLiteral);
    literal->node = node;
    literal->value.kind = (JsonKind)kind;
    return literal;
}

static void append(JsonValue *container, JsonValue **last, JsonValue *item) {
    if (*last) (*last)->next = item;
    else container->first = item;
    *last = item;
    container->count++;
}

static JsonValue *array_literal(Arena *arena, const FlowNode *node) {
    JsonValue *array = &literal_new(arena, node, JSON_KIND_ARRAY)->value;
    JsonValue *last = NULL;
    for (uint32_t i = 0; i < node->list.count; i++) {
        const FlowNode *item = node->list.items[i];
        append(array, &last,
               item ? check_literal(arena, item)
                    : &literal_new(arena, node, API_UNKNOWN_VALUE)->value);
    }
    return array;
}

static bool has_spread(const FlowNode *node) {
    for (uint32_t i = 0; i < node->list.count; i++)
        if (node->list.items[i]->kind != NODE_PROPERTY) return true;
    return false;
}

static JsonValue *object_literal(Arena *arena, const FlowNode *node) {
    JsonValue *object = &literal_new(arena, node, JSON_KIND_OBJECT)->value;
    JsonValue *last = NULL;
    bool is_replaced = has_spread(node);
    for (uint32_t i = 0; i < node->list.count; i++) {
        const FlowNode *item = node->list.items[i];
        bool is_property = item->kind == NODE_PROPERTY;
        bool is_value = is_property && item->op == PROPERTY_VALUE && !is_replaced;
        JsonValue *value = is_value ? check_literal(arena, item->property.value)
                                    : &literal_new(arena, item, API_UNKNOWN_VALUE)->value;
        ((CheckLiteral *)value)->node = item;
        if (is_property && !(item->flags & FLAG_COMPUTED) && item->op != PROPERTY_PROTO &&
            item->property.key->kind == NODE_STRING)
            value->key = item->property.key->string.text;
        append(object, &last, value);
    }
    return object;
}

static JsonValue *number_literal(Arena *arena, const FlowNode *node, double number) {
    JsonValue *value = &literal_new(arena, node, JSON_KIND_NUMBER)->value;
    value->number = number;
    return value;
}

static JsonValue *text_literal(Arena *arena, const FlowNode *node, Str text) {
    JsonValue *value = &literal_new(arena, node, JSON_KIND_STRING)->value;
    value->string = text;
    return value;
}

// Recursion is as deep as the literal is nested, which the parser limits.
JsonValue *check_literal(Arena *arena, const FlowNode *node) {
    switch ((FlowNodeKind)node->kind) {
    case NODE_NULL: return &literal_new(arena, node, JSON_KIND_NULL)->value;
    case NODE_TRUE:
    case NODE_FALSE: return &literal_new(arena, node, JSON_KIND_BOOL)->value;
    case NODE_NUMBER: return number_literal(arena, node, node->number);
    case NODE_STRING: return text_literal(arena, node, node->string.text);
    case NODE_TEMPLATE:
        if (node->template.expressions.count > 0) break;
        return text_literal(arena, node, node->template.parts[0].cooked);
    case NODE_UNARY: {
        const FlowNode *operand = node->unary.operand;
        if (operand->kind != NODE_NUMBER) break;
        if (node->op == OPERATOR_NEGATE) return number_literal(arena, node, -operand->number);
        if (node->op == OPERATOR_PLUS) return number_literal(arena, node, operand->number);
        break;
    }
    case NODE_ARRAY: return array_literal(arena, node);
    case NODE_OBJECT: return object_literal(arena, node);
    case NODE_IDENTIFIER:
        if (check_is_global(node, "undefined"))
            return &literal_new(arena, node, JSON_KIND_NULL)->value;
        break;
    default: break;
    }
    return &literal_new(arena, node, API_UNKNOWN_VALUE)->value;
}
