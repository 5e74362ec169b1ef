// Classes: heritage, methods, accessors, fields, static blocks, private names.
//
// Field initializers run as if each were a method. All those of one class, instance or static,
// belong to one synthetic function (FUNCTION_KIND_FIELDS), so that `this` and captures inside them
// resolve like in any other function. Whether private names exist is for scope analysis.
#include "flow/parser/internal.h"

typedef struct ElementHead {
    uint32_t start;
    bool is_static;
    bool is_async;
    bool is_generator;
    bool is_computed;
    FlowElementKind kind;
} ElementHead;

static void class_error(FlowParser *p, const FlowNode *node, const char *message) {
    parse_error_node(p, node, FLOW_ERROR_CLASS, message);
}

// A word before the key is the key itself when one of these follows it.
static bool ends_key(const FlowParser *p) {
    switch (p->token.kind) {
    case TOKEN_PAREN_OPEN:
    case TOKEN_ASSIGN:
    case TOKEN_SEMICOLON:
    case TOKEN_BRACE_CLOSE:
    case TOKEN_END: return true;
    default: return false;
    }
}

static FlowNode *word_as_key(FlowParser *p, const FlowToken *word) {
    FlowNode *node = parse_node(p, NODE_STRING, word->start);
    node->end = word->end;
    node->string.name = word->name;
    node->string.text = word->name->text;
    return node;
}

static bool is_named(const FlowNode *key, const FlowName *name) {
    return key->kind == NODE_STRING && key->string.name == name;
}

// static, async, get, set, *. Answers the key when a word turns out to be it.
static FlowNode *parse_modifiers(FlowParser *p, ElementHead *head) {
    FlowToken word = p->token;
    if (word.kind == TOKEN_STATIC) {
        parse_next(p);
        if (ends_key(p)) return word_as_key(p, &word);
        if (p->token.kind == TOKEN_BRACE_OPEN) {
            head->kind = ELEMENT_STATIC_BLOCK;
            head->is_static = true;
            return NULL;
        }
        head->is_static = true;
        word = p->token;
    }
    if (word.kind == TOKEN_ASYNC) {
        parse_next(p);
        if (ends_key(p) || p->token.is_after_newline) return word_as_key(p, &word);
        head->is_async = true;
        head->kind = ELEMENT_METHOD;
    } else if (word.kind == TOKEN_GET || word.kind == TOKEN_SET) {
        parse_next(p);
        if (ends_key(p)) return word_as_key(p, &word);
        if (p->token.kind == TOKEN_MULTIPLY) return word_as_key(p, &word); // a field, then *m(){}
        head->kind = word.kind == TOKEN_GET ? ELEMENT_GETTER : ELEMENT_SETTER;
        return NULL;
    }
    if (p->token.kind == TOKEN_MULTIPLY) {
        parse_next(p);
        head->is_generator = true;
        head->kind = ELEMENT_METHOD;
    }
    return NULL;
}

static void check_method_key(FlowParser *p, const ElementHead *head, const FlowNode *key) {
    if (head->is_computed) return;
    if (head->is_static) {
        if (is_named(key, p->names.prototype))
            class_error(p, key, "Classes may not have a static property named 'prototype'");
    } else if (is_named(key, p->names.constructor)) {
        if (head->kind != ELEMENT_METHOD)
            class_error(p, key, "Class constructor may not be an accessor");
        else if (head->is_generator)
            class_error(p, key, "Class constructor may not be a generator");
        else if (head->is_async)
            class_error(p, key, "Class constructor may not be an async method");
    }
}

static FlowFunction *parse_method(FlowParser *p, const ElementHead *head, FlowFunctionKind kind) {
    return parse_function_rest(p, &(FlowFunctionHead){.kind = kind,
                                                      .is_async = head->is_async,
                                                      .is_generator = head->is_generator,
                                                      .start = head->start});
}

static FlowNode *element_node(FlowParser *p, const ElementHead *head, FlowNode *key,
                              FlowNode *value) {
    FlowNode *node = parse_node(p, NODE_CLASS_ELEMENT, head->start);
    node->op = (uint8_t)head->kind;
    node->flags =
        (uint16_t)((head->is_static ? FLAG_STATIC : 0) | (head->is_computed ? FLAG_COMPUTED : 0));
    node->element.key = key;
    node->element.value = value;
    return node;
}

static FlowFunction *fields_function(FlowParser *p, FlowClass *class, const ElementHead *head) {
    FlowFunction **function = head->is_static ? &class->static_fields : &class->instance_fields;
    if (!*function) *function = parse_function_new(p, FUNCTION_KIND_FIELDS, head->start);
    return *function;
}

static FlowNode *parse_method_element(FlowParser *p, FlowClass *class, const ElementHead *head,
                                      FlowNode *key) {
    check_method_key(p, head, key);
    bool is_constructor = head->kind == ELEMENT_METHOD && !head->is_static && !head->is_computed &&
                          is_named(key, p->names.constructor);
    FlowFunctionKind kind = head->kind == ELEMENT_GETTER   ? FUNCTION_KIND_GETTER
                            : head->kind == ELEMENT_SETTER ? FUNCTION_KIND_SETTER
                                                           : FUNCTION_KIND_METHOD;
    if (is_constructor)
        kind = class->heritage ? FUNCTION_KIND_DERIVED_CONSTRUCTOR : FUNCTION_KIND_CONSTRUCTOR;
    FlowFunction *function = parse_method(p, head, kind);
    if (is_constructor) {
        if (class->constructor) class_error(p, key, "A class may only have one constructor");
        class->constructor = function;
        return NULL;
    }
    if (key->kind == NODE_PRIVATE_NAME) {
        if (head->is_static) class->has_static_private_methods = true;
        else class->has_instance_private_methods = true;
        fields_function(p, class, head); // it gives the method to the instance
    }
    FlowNode *value = parse_node(p, NODE_FUNCTION, head->start);
    value->at = key->start;
    value->function = function;
    return element_node(p, head, key, value);
}

static FlowNode *parse_field(FlowParser *p, FlowClass *class, ElementHead *head, FlowNode *key) {
    head->kind = ELEMENT_FIELD;
    if (!head->is_computed) {
        if (is_named(key, p->names.constructor))
            class_error(p, key, "Classes may not have a field named 'constructor'");
        if (head->is_static && is_named(key, p->names.prototype))
            class_error(p, key, "Classes may not have a static property named 'prototype'");
    }
    FlowFunction *function = fields_function(p, class, head);
    FlowNode *value = NULL;
    if (parse_accept(p, TOKEN_ASSIGN)) {
        FlowFunctionContext context;
        parse_context_begin(p, &context, function);
        value = parse_assignment(p);
        parse_context_end(p, &context);
    }
    function->end = p->previous_end;
    parse_semicolon(p);
    return element_node(p, head, key, value);
}

static FlowNode *parse_static_block(FlowParser *p, FlowClass *class, const ElementHead *head) {
    fields_function(p, class, head); // it calls the block
    FlowFunction *function = parse_function_new(p, FUNCTION_KIND_STATIC_BLOCK, head->start);
    FlowFunctionContext context;
    parse_context_begin(p, &context, function);
    function->body_start = p->token.start;
    parse_expect(p, TOKEN_BRACE_OPEN);
    p->block_depth++;
    function->body = parse_statement_list(p, TOKEN_BRACE_CLOSE);
    p->block_depth--;
    parse_expect(p, TOKEN_BRACE_CLOSE);
    parse_context_end(p, &context);
    FlowNode *value = parse_node(p, NODE_FUNCTION, head->start);
    value->function = function;
    return element_node(p, head, NULL, value);
}

// Answers NULL for the constructor, which is kept in the class itself.
static FlowNode *parse_element(FlowParser *p, FlowClass *class) {
    ElementHead head = {.start = p->token.start, .kind = ELEMENT_FIELD};
    FlowNode *key = parse_modifiers(p, &head);
    if (head.kind == ELEMENT_STATIC_BLOCK) return parse_static_block(p, class, &head);
    if (!key) key = parse_key(p, true, &head.is_computed);
    if (key->kind == NODE_PRIVATE_NAME && !head.is_computed &&
        key->reference.name == p->names.private_constructor)
        class_error(p, key, "Classes may not have a private field named '#constructor'");
    bool is_method = p->token.kind == TOKEN_PAREN_OPEN || head.kind != ELEMENT_FIELD;
    if (!is_method) return parse_field(p, class, &head, key);
    if (head.kind == ELEMENT_FIELD) head.kind = ELEMENT_METHOD;
    return parse_method_element(p, class, &head, key);
}

static void parse_class_body(FlowParser *p, FlowClass *class) {
    size_t mark = parse_list_begin(p);
    parse_expect(p, TOKEN_BRACE_OPEN);
    p->block_depth++;
    while (p->token.kind != TOKEN_BRACE_CLOSE && p->token.kind != TOKEN_END) {
        if (parse_accept(p, TOKEN_SEMICOLON)) continue;
        uint32_t height = parse_height_begin(p);
        FlowNode *element = parse_element(p, class);
        parse_height_end(p, height);
        if (element) parse_list_push(p, element);
    }
    p->block_depth--;
    parse_expect(p, TOKEN_BRACE_CLOSE);
    class->elements = parse_list_end(p, mark);
}

static void parse_class_head(FlowParser *p, FlowClass *class, bool is_declaration) {
    if (p->token.kind != TOKEN_BRACE_OPEN && p->token.kind != TOKEN_EXTENDS) {
        p->binding_kind = VARIABLE_CLASS;
        class->name_node = parse_binding_identifier(p);
        class->name = class->name_node->reference.name;
    } else if (is_declaration) {
        parse_unexpected(p);
    }
    if (parse_accept(p, TOKEN_EXTENDS)) {
        p->arrow_at = OFFSET_NONE;
        class->heritage = parse_left_hand_side(p);
        parse_check_cover(p);
    }
}

FlowNode *parse_class(FlowParser *p, bool is_declaration) {
    uint32_t start = p->token.start;
    FlowClass *class = ARENA_NEW(p->arena, FlowClass);
    class->start = start;
    parse_next(p);
    bool was_in_allowed = p->is_in_allowed;
    p->is_in_allowed = true;
    if (parse_enter(p)) {
        parse_class_head(p, class, is_declaration);
        parse_class_body(p, class);
    }
    parse_leave(p);
    p->is_in_allowed = was_in_allowed;
    class->end = p->previous_end;
    FlowNode *node = parse_node(p, is_declaration ? NODE_CLASS_DECLARATION : NODE_CLASS, start);
    node->class_definition = class;
    return node;
}
