// Object literals and property keys.
//
// `{a = 1}` is legal only as a pattern: it is read as a shorthand whose value is a NODE_DEFAULT,
// and cover_at remembers it until somebody turns the object into a pattern or complains. The same
// holds for a second `__proto__: x`, which a pattern may have and a literal may not (proto_at).
#include "flow/parser/internal.h"

static FlowNode *key_from_word(FlowParser *p) {
    uint32_t start = p->token.start;
    FlowName *name = p->token.name;
    parse_next(p);
    FlowNode *node = parse_node(p, NODE_STRING, start);
    node->string.text = name->text;
    node->string.name = name;
    return node;
}

FlowNode *parse_key(FlowParser *p, bool allows_private, bool *ret_is_computed) {
    const FlowToken *token = &p->token;
    FlowName *name = token->name;
    *ret_is_computed = false;
    if (token_is_word(token->kind)) return key_from_word(p);
    uint32_t start = token->start;
    FlowNode *node;
    switch (token->kind) {
    case TOKEN_STRING:
    case TOKEN_NUMBER:
    case TOKEN_BIGINT: return parse_primary(p);
    case TOKEN_BRACKET_OPEN: {
        bool was_in_allowed = p->is_in_allowed;
        p->is_in_allowed = true;
        *ret_is_computed = true;
        parse_next(p);
        node = parse_assignment(p);
        p->is_in_allowed = was_in_allowed;
        parse_expect(p, TOKEN_BRACKET_CLOSE);
        return node;
    }
    case TOKEN_PRIVATE_NAME:
        if (!allows_private) break;
        parse_next(p);
        node = parse_node(p, NODE_PRIVATE_NAME, start);
        node->reference.name = name;
        return node;
    default: break;
    }
    parse_unexpected(p);
    return parse_node(p, NODE_UNDEFINED, start);
}

typedef struct PropertyHead {
    uint32_t start;
    bool is_async;
    bool is_generator;
    FlowPropertyKind kind;
} PropertyHead;

static bool ends_key(FlowTokenKind kind) { // what was read is the key itself, not a modifier
    return kind == TOKEN_COMMA || kind == TOKEN_COLON || kind == TOKEN_PAREN_OPEN ||
           kind == TOKEN_BRACE_CLOSE || kind == TOKEN_ASSIGN || kind == TOKEN_END;
}

static FlowNode *finish_property(FlowParser *p, const PropertyHead *head, FlowNode *key,
                                 FlowNode *value) {
    FlowNode *node = parse_node(p, NODE_PROPERTY, head->start);
    node->op = (uint8_t)head->kind;
    node->property.key = key;
    node->property.value = value;
    return node;
}

static FlowNode *parse_method_value(FlowParser *p, const PropertyHead *head, const FlowNode *key) {
    FlowFunctionKind kind = head->kind == PROPERTY_GETTER   ? FUNCTION_KIND_GETTER
                            : head->kind == PROPERTY_SETTER ? FUNCTION_KIND_SETTER
                                                            : FUNCTION_KIND_METHOD;
    FlowFunction *function =
        parse_function_rest(p, &(FlowFunctionHead){.kind = kind,
                                                   .is_async = head->is_async,
                                                   .is_generator = head->is_generator,
                                                   .start = head->start});
    FlowNode *node = parse_node(p, NODE_FUNCTION, head->start);
    node->at = key->start;
    node->function = function;
    return node;
}

static void refuse_shorthand(FlowParser *p, const FlowToken *word) {
    FlowFinding finding = {.code = FLOW_ERROR_SYNTAX, .start = word->start, .end = word->end};
    if (p->token.kind == TOKEN_END) parse_unexpected(p); // the word is not what is wrong
    else if (token_is_strict_reserved(word->kind))
        parse_error(p, &finding, "Unexpected strict mode reserved word");
    else if (word->kind == TOKEN_AWAIT) parse_error(p, &finding, "Unexpected reserved word");
    else parse_error(p, &finding, "Unexpected token '%s'", flow_token_info[word->kind].text);
}

// { name }, { name = value }; `word` is the token of the name.
static FlowNode *parse_shorthand(FlowParser *p, const PropertyHead *head, const FlowToken *word,
                                 FlowNode *key) {
    bool is_name =
        token_is_identifier(word->kind) ||
        (word->kind == TOKEN_AWAIT && !p->context->is_async && !p->context->is_static_block);
    if (!is_name) refuse_shorthand(p, word);
    if (word->kind == TOKEN_ARGUMENTS && p->context->refuses_arguments)
        parse_error_node(p, key, FLOW_ERROR_CONTEXT,
                         "'arguments' is not allowed in class field initializer or static "
                         "initialization block");
    FlowNode *value = parse_node(p, NODE_IDENTIFIER, word->start);
    value->reference.name = key->string.name ? key->string.name : p->names.undefined;
    value->end = word->end;
    if (p->token.kind == TOKEN_ASSIGN) {
        if (p->cover_at == OFFSET_NONE) p->cover_at = p->token.start;
        parse_next(p);
        uint32_t cover_at = p->cover_at;
        FlowNode *right = parse_assignment(p);
        p->cover_at = cover_at;
        FlowNode *node = parse_node(p, NODE_DEFAULT, word->start);
        node->binary.left = value;
        node->binary.right = right;
        value = node;
    }
    PropertyHead shorthand = *head;
    shorthand.kind = PROPERTY_SHORTHAND;
    return finish_property(p, &shorthand, key, value);
}

// async, get, set and * before the key. Answers the key when the word was the key itself.
static FlowNode *parse_modifiers(FlowParser *p, PropertyHead *head) {
    uint8_t kind = p->token.kind;
    if (kind == TOKEN_ASYNC || kind == TOKEN_GET || kind == TOKEN_SET) {
        FlowNode *word = key_from_word(p);
        if (ends_key(p->token.kind)) return word;
        if (kind == TOKEN_ASYNC) {
            if (p->token.is_after_newline) parse_unexpected(p);
            head->is_async = true;
            head->kind = PROPERTY_METHOD;
        } else {
            head->kind = kind == TOKEN_GET ? PROPERTY_GETTER : PROPERTY_SETTER;
            return NULL;
        }
    }
    if (parse_accept(p, TOKEN_MULTIPLY)) {
        head->is_generator = true;
        head->kind = PROPERTY_METHOD;
    }
    return NULL;
}

static FlowNode *parse_property(FlowParser *p, bool *has_proto) {
    PropertyHead head = {.start = p->token.start};
    FlowToken word = p->token;
    if (!token_is_word(word.kind)) word.name = NULL;
    bool is_computed = false;
    FlowNode *key = parse_modifiers(p, &head);
    if (!key) key = parse_key(p, false, &is_computed);
    FlowNode *property;
    if (head.kind != PROPERTY_VALUE || p->token.kind == TOKEN_PAREN_OPEN) {
        if (head.kind == PROPERTY_VALUE) head.kind = PROPERTY_METHOD;
        property = finish_property(p, &head, key, parse_method_value(p, &head, key));
    } else if (parse_accept(p, TOKEN_COLON)) {
        bool is_proto =
            !is_computed && key->kind == NODE_STRING && key->string.name == p->names.proto;
        if (is_proto && *has_proto && p->proto_at == OFFSET_NONE) p->proto_at = key->start;
        if (is_proto) *has_proto = true;
        head.kind = is_proto ? PROPERTY_PROTO : PROPERTY_VALUE;
        property = finish_property(p, &head, key, parse_assignment_cover(p));
    } else if (is_computed || !word.name) {
        parse_unexpected(p);
        property = finish_property(p, &head, key, key);
    } else {
        property = parse_shorthand(p, &head, &word, key);
    }
    property->end = p->previous_end;
    if (is_computed) property->flags |= FLAG_COMPUTED;
    return property;
}

FlowNode *parse_object(FlowParser *p) {
    uint32_t start = p->token.start;
    size_t mark = parse_list_begin(p);
    bool was_in_allowed = p->is_in_allowed;
    bool has_proto = false;
    p->is_in_allowed = true;
    parse_next(p);
    while (p->token.kind != TOKEN_BRACE_CLOSE && p->token.kind != TOKEN_END) {
        uint32_t height = parse_height_begin(p);
        FlowNode *item;
        if (p->token.kind == TOKEN_ELLIPSIS) {
            uint32_t item_start = p->token.start;
            parse_next(p);
            item = parse_assignment_cover(p);
            item = parse_unary_node(p, NODE_SPREAD, item_start, item);
        } else {
            item = parse_property(p, &has_proto);
        }
        parse_list_push(p, item);
        parse_height_end(p, height);
        if (p->token.kind != TOKEN_COMMA) break;
        if (item->kind == NODE_SPREAD) item->flags |= FLAG_TRAILING_COMMA;
        parse_next(p);
    }
    p->is_in_allowed = was_in_allowed;
    parse_expect(p, TOKEN_BRACE_CLOSE);
    FlowNode *node = parse_node(p, NODE_OBJECT, start);
    node->list = parse_list_end(p, mark);
    return node;
}
