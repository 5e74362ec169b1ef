// Destructuring: array and object patterns, of assignments, declarations and parameters.
//
// Order of evaluation as ECMAScript has it: computed key, then object and key of the target, then
// the value, then its default, then the store.
//
//   [pattern-1] The iterator of an array pattern is closed on every way out that the iterator
//        itself did not cause (control.record's state register knows).
//   [pattern-2] The source register is not changed by the pattern.

#include "flow/compile/nodes.h"

static bool node_is_pattern(const FlowNode *node) {
    return node->kind == NODE_ARRAY_PATTERN || node->kind == NODE_OBJECT_PATTERN;
}

// One target of a pattern, its parts evaluated before the value is fetched.
typedef struct Target {
    FlowNode *node;
    FlowNode *initial; // default value; NULL without
    PatternMode mode;
    Place place;
    Register direct; // where the value may be computed into; NO_REGISTER: anywhere
} Target;

static Target target_prepare(FlowCompiler *c, FlowNode *item, PatternMode mode) {
    Target target = {.node = item, .mode = mode, .direct = NO_REGISTER};
    if (item->kind == NODE_DEFAULT) {
        target.node = item->binary.left;
        target.initial = item->binary.right;
    }
    if (target.node->kind == NODE_IDENTIFIER) {
        // A variable that had a value keeps it until the new one is complete; a fresh one may
        // be computed in place.
        if (mode == PATTERN_DECLARE && target.node->reference.to.variable->kind != VARIABLE_VAR)
            target.direct = variable_target(c, use_of(target.node), true);
    } else if (!node_is_pattern(target.node)) {
        target.place = place_prepare(c, target.node, NULL);
        // What is fetched later may be a getter, but the default is an expression of ours.
        if (target.place.object != NO_REGISTER && c->is_variable.data[target.place.object]) {
            Register copy = register_new(c);
            emit_move(c, copy, target.place.object);
            target.place.object = copy;
        }
        if (target.place.key != NO_REGISTER && c->is_variable.data[target.place.key]) {
            Register copy = register_new(c);
            emit_move(c, copy, target.place.key);
            target.place.key = copy;
        }
    }
    return target;
}

static void target_finish(FlowCompiler *c, const Target *target, Register value) {
    FlowNode *node = target->node;
    if (target->initial) {
        JumpList given = {0};
        emit_jump_if(c, OP_JUMP_IF_NOT_UNDEFINED, value, &given);
        if (node->kind == NODE_IDENTIFIER && !(node->flags & FLAG_PARENTHESIZED))
            compile_named(c, target->initial, name_atom(c, node->reference.name), value);
        else compile_expression(c, target->initial, value);
        jump_patch_here(c, &given);
    }
    if (node_is_pattern(node)) {
        PatternSource source = {.value = value, .text = FLOW_HOLE, .is_nested = true};
        compile_pattern(c, node, source, target->mode);
    } else if (node->kind != NODE_IDENTIFIER) {
        place_store(c, &target->place, value);
    } else if (target->direct != value) {
        if (target->mode == PATTERN_DECLARE) variable_initialize(c, use_of(node), value);
        else variable_store(c, use_of(node), value);
    }
}

static Register target_value(FlowCompiler *c, const Target *target) {
    return target->direct != NO_REGISTER ? target->direct : register_new(c);
}

static void pattern_describe(FlowCompiler *c, const FlowNode *node, PatternSource source) {
    emit_position(c, source.node ? source.node->start : node->start);
    if (source.node) emit_description(c, source.node);
    else if (!flow_is_hole(source.text)) emit_description_text(c, source.text);
}

// V8 names what is not iterable only in declarations, and only if its first token is where V8
// looks for it.
static bool iterable_has_name(const FlowNode *node, PatternMode mode) {
    if (mode != PATTERN_DECLARE) return false;
    switch (node->kind) {
    case NODE_MEMBER:
    case NODE_INDEX:
    case NODE_PRIVATE_MEMBER:
    case NODE_OPTIONAL_CHAIN: return false;
    case NODE_CALL: return node->call.callee->kind == NODE_IDENTIFIER;
    default: return true;
    }
}

// --- arrays
static void compile_array_rest(FlowCompiler *c, FlowNode *item, Register record, PatternMode mode) {
    Target target = target_prepare(c, item->unary.operand, mode);
    Register value = target_value(c, &target);
    emit_position(c, item->at);
    emit_abc(c, OP_ITER_REST, record, value, 0);
    target_finish(c, &target, value);
}

static void compile_array_item(FlowCompiler *c, FlowNode *item, Register record, PatternMode mode) {
    Target target = {.node = NULL, .direct = NO_REGISTER};
    if (item) target = target_prepare(c, item, mode);
    Register value = item ? target_value(c, &target) : register_new(c);
    if (item) emit_position(c, item->at);
    emit_abc(c, OP_ITER_STEP, record, value, 0);
    emit_abc(c, OP_ITER_STEP_VALUE, record, value, item ? 0 : 1);
    if (item) target_finish(c, &target, value);
}

static void compile_array_pattern(FlowCompiler *c, FlowNode *node, PatternSource source,
                                  PatternMode mode) {
    Register record = register_block(c, 3);
    emit_position(c, source.node ? source.node->start : node->start);
    if (source.node && iterable_has_name(source.node, mode))
        emit_description_text(c, describe_iterated(c, source.node));
    else if (!flow_is_hole(source.text)) emit_description_text(c, source.text);
    emit_abc(c, OP_GET_ITERATOR, record, source.value, 0);
    emit_abc(c, OP_ITER_START, record, 0, 0);
    Control control;
    control_begin(c, &control, CONTROL_ITERATOR, NULL);
    control.record = record;
    for (uint32_t i = 0; i < node->list.count; i++) {
        FlowNode *item = node->list.items[i];
        Register mark = c->top;
        if (item && item->kind == NODE_REST) compile_array_rest(c, item, record, mode);
        else compile_array_item(c, item, record, mode);
        c->top = mark;
    }
    JumpList end = {0};
    uint32_t region_end = emit_here(c);
    control_end(c, &control);
    if (region_end == control.region_start) { // nothing that could fail
        emit_abc(c, OP_ITER_CLOSE, record, 0, 0);
        return;
    }
    Register error = register_new(c);
    emit_jump(c, &end);
    control_catch(c, &control, error);
    iterator_rethrow(c, &control, error);
    jump_patch_here(c, &end);
    emit_abc(c, OP_ITER_CLOSE, record, 0, 0);
}

// --- objects
static bool object_pattern_has_rest(const FlowNode *node) {
    return node->list.count > 0 && node->list.items[node->list.count - 1]->kind == NODE_REST;
}

static void object_pattern_get(FlowCompiler *c, const PropertyKey *key, Register key_register,
                               Register object, Register dst) {
    uint32_t site = NO_REGISTER;
    if (!key->is_dynamic && !key->is_index) site = site_new(c, key->name);
    if (site != NO_REGISTER) {
        emit_abc(c, OP_GET_FIELD, dst, object, site);
        return;
    }
    Register mark = c->top;
    if (!key->is_dynamic) {
        key_register = register_new(c);
        emit_property_key(c, key, key_register);
    }
    emit_abc(c, OP_GET_ELEMENT, dst, object, key_register);
    c->top = mark;
}

static void compile_object_property(FlowCompiler *c, FlowNode *item, PatternSource source,
                                    Register keys, PatternMode mode) {
    FlowNode *key_node = item->property.key;
    PropertyKey key = property_key(c, key_node, item->flags & FLAG_COMPUTED);
    Register key_register = NO_REGISTER;
    if (key.is_dynamic) {
        Register computed = compile_next(c, key_node);
        key_register = computed;
        emit_position(c, key_node->at);
        emit_abc(c, OP_TO_PROPERTY_KEY, key_register, computed, 0);
    }
    if (keys != NO_REGISTER) {
        Register mark = c->top;
        Register excluded = key_register;
        if (excluded == NO_REGISTER) {
            excluded = register_new(c);
            emit_property_key(c, &key, excluded);
        }
        emit_abc(c, OP_ARRAY_PUSH, keys, excluded, 0);
        c->top = mark;
    }
    Target target = target_prepare(c, item->property.value, mode);
    Register value = target_value(c, &target);
    emit_position(c, item->at);
    object_pattern_get(c, &key, key_register, source.value, value);
    target_finish(c, &target, value);
}

static void compile_object_rest(FlowCompiler *c, FlowNode *item, PatternSource source,
                                Register keys, PatternMode mode) {
    Target target = target_prepare(c, item->unary.operand, mode);
    Register value = target_value(c, &target);
    emit_position(c, item->at);
    emit_abc(c, OP_OBJECT_REST, value, source.value, keys);
    target_finish(c, &target, value);
}

static void compile_object_pattern(FlowCompiler *c, FlowNode *node, PatternSource source,
                                   PatternMode mode) {
    FlowValue first = FLOW_UNDEFINED;
    bool is_checked_by_access = source.is_nested;
    if (node->list.count > 0 && node->list.items[0]->kind == NODE_PROPERTY) {
        FlowNode *item = node->list.items[0];
        PropertyKey key = property_key(c, item->property.key, item->flags & FLAG_COMPUTED);
        if (!key.is_dynamic) first = property_key_text(c, &key);
        uint8_t kind = item->property.value->kind;
        bool is_simple =
            kind == NODE_IDENTIFIER || kind == NODE_ARRAY_PATTERN || kind == NODE_OBJECT_PATTERN;
        is_checked_by_access = is_checked_by_access || !is_simple;
    }
    // In some patterns V8 lets the first property access complain, and so do we.
    if (!is_checked_by_access || flow_is_undefined(first)) {
        pattern_describe(c, node, source);
        emit_wide(c, OP_REQUIRE_OBJECT, source.value, (int32_t)constant_index(c, first));
    }
    Register keys = NO_REGISTER;
    if (object_pattern_has_rest(node)) {
        keys = register_new(c);
        emit_wide(c, OP_NEW_ARRAY, keys, (int32_t)node->list.count);
    }
    for (uint32_t i = 0; i < node->list.count; i++) {
        FlowNode *item = node->list.items[i];
        Register mark = c->top;
        if (item->kind == NODE_REST) compile_object_rest(c, item, source, keys, mode);
        else compile_object_property(c, item, source, keys, mode);
        c->top = mark;
    }
}

void compile_pattern(FlowCompiler *c, FlowNode *target, PatternSource source, PatternMode mode) {
    Register mark = c->top;
    if (target->kind == NODE_ARRAY_PATTERN) {
        compile_array_pattern(c, target, source, mode);
    } else if (target->kind == NODE_OBJECT_PATTERN) {
        compile_object_pattern(c, target, source, mode);
    } else {
        Target one = target_prepare(c, target, mode);
        one.direct = NO_REGISTER;
        Register value = source.value;
        if (one.initial) { // [pattern-2]
            value = register_new(c);
            emit_move(c, value, source.value);
        }
        target_finish(c, &one, value);
    }
    c->top = mark;
}
