// Array and object literals, and property keys.
//
//   [compile-object-1] A literal is built in a temporary and moved when it is complete: its items
//        may mention the variable it is assigned to.
//   [compile-object-2] Static keys that are array indices are integers, all others atoms.

#include "base/text/number.h"
#include "flow/compile/nodes.h"
#include "flow/value/string.h"

// --- keys
PropertyKey property_key(FlowCompiler *c, const FlowNode *key, bool is_computed) {
    PropertyKey result = {.name = FLOW_HOLE};
    char text[NUMBER_TEXT_MAX];
    Str name;
    FlowValue value;
    if (is_computed && key->kind != NODE_STRING && key->kind != NODE_NUMBER) {
        result.is_dynamic = true;
        return result;
    }
    if (key->kind == NODE_NUMBER) {
        name = (Str){text, number_format(key->number, text)};
    } else if (key->kind == NODE_BIGINT) {
        // The key is the decimal text; hexadecimal ones are rare enough for a conversion at run
        // time.
        if (key->string.text.len > 1 && key->string.text.data[0] == '0') {
            result.is_dynamic = true;
            return result;
        }
        name = key->string.text;
    } else {
        name = key->string.text;
    }
    if (text_is_index(name, &result.index)) {
        result.is_index = true;
        return result;
    }
    if (key->kind == NODE_STRING && constant_of(c, key, &value)) result.name = value;
    else result.name = flow_module_string(c->module, name);
    return result;
}

FlowValue property_key_text(FlowCompiler *c, const PropertyKey *key) {
    char text[NUMBER_TEXT_MAX];
    if (!key->is_index) return key->name;
    return flow_module_string(c->module, (Str){text, number_format(key->index, text)});
}

void emit_property_key(FlowCompiler *c, const PropertyKey *key, Register dst) {
    emit_constant(c, key->is_index ? flow_uint(key->index) : key->name, dst);
}

FlowValue name_with_prefix(FlowCompiler *c, const char *prefix, FlowValue name) {
    // Atoms of the module are flat; prefixes are "get " and "set ".
    const FlowString *string = flow_as_string(name);
    uint32_t length = flow_string_length(string);
    size_t prefix_length = strlen(prefix);
    uint16_t *units = ARENA_ARRAY(c->arena, uint16_t, length + prefix_length);
    for (size_t i = 0; i < prefix_length; i++) units[i] = (uint8_t)prefix[i];
    for (uint32_t i = 0; i < length; i++) units[prefix_length + i] = flow_string_at(string, i);
    return flow_module_string_utf16(c->module, units, length + prefix_length);
}

// --- arrays
void compile_array_items(FlowCompiler *c, const FlowNodeList *list, Register array, bool is_call) {
    for (uint32_t i = 0; i < list->count; i++) {
        FlowNode *item = list->items[i];
        Register mark = c->top;
        if (!item) {
            emit_abc(c, OP_ARRAY_PUSH_HOLE, array, 0, 0);
        } else if (item->kind == NODE_SPREAD) {
            FlowNode *operand = item->unary.operand;
            c->iterated = is_call ? NULL : operand;
            Register value = compile_any(c, operand);
            emit_position(c, operand->start);
            // V8 treats a spread at the end of a call apart, and names none before the end.
            bool is_last_argument = is_call && i + 1 == list->count;
            if (is_last_argument) emit_description(c, operand);
            else if (!is_call) emit_description_text(c, describe_iterated(c, operand));
            emit_abc(c, OP_ARRAY_SPREAD, array, value, is_last_argument);
        } else {
            emit_abc(c, OP_ARRAY_PUSH, array, compile_any(c, item), 0);
        }
        c->top = mark;
    }
}

void compile_array(FlowCompiler *c, FlowNode *node, Register dst) {
    Register array = register_scratch(c, dst); // [compile-object-1]
    emit_wide(c, OP_NEW_ARRAY, array, (int32_t)node->list.count);
    compile_array_items(c, &node->list, array, false);
    emit_move(c, dst, array);
}

// --- objects
typedef struct Property {
    FlowNode *node;
    Register object;
    PropertyKey key;
    Register key_register; // when key.is_dynamic
} Property;

static void emit_define(FlowCompiler *c, const Property *property, Register value) {
    uint32_t site = NO_REGISTER;
    if (!property->key.is_dynamic && !property->key.is_index)
        site = site_new(c, property->key.name);
    if (site != NO_REGISTER) {
        emit_abc(c, OP_INIT_FIELD, property->object, value, site);
        return;
    }
    Register mark = c->top;
    Register key = property->key_register;
    if (!property->key.is_dynamic) {
        key = register_new(c);
        emit_property_key(c, &property->key, key);
    }
    emit_abc(c, OP_INIT_ELEMENT, property->object, key, value);
    c->top = mark;
}

static void compile_object_value(FlowCompiler *c, const Property *property) {
    FlowNode *value = property->node->property.value;
    if (node_is_anonymous_function(value)) {
        Register reg = register_new(c);
        if (property->key.is_dynamic) {
            compile_named(c, value, flow_module_string(c->module, STR("")), reg);
            emit_abc(c, OP_SET_FUNCTION_NAME, reg, property->key_register, 0);
        } else {
            compile_named(c, value, property_key_text(c, &property->key), reg);
        }
        emit_define(c, property, reg);
        return;
    }
    emit_define(c, property, compile_any(c, value));
}

// Methods, getters and setters.
static void compile_object_method(FlowCompiler *c, const Property *property) {
    FlowFunction *function = property->node->property.value->function;
    uint8_t kind = property->node->op;
    const char *prefix = kind == PROPERTY_GETTER ? "get " : kind == PROPERTY_SETTER ? "set " : "";
    uint32_t prefix_id = kind == PROPERTY_GETTER ? 1 : kind == PROPERTY_SETTER ? 2 : 0;
    Register closure = register_new(c);
    if (property->key.is_dynamic) {
        compile_closure(c, function, flow_module_string(c->module, STR("")), closure);
        emit_abc(c, OP_SET_FUNCTION_NAME, closure, property->key_register, prefix_id);
    } else {
        FlowValue name = property_key_text(c, &property->key);
        compile_closure(c, function, *prefix ? name_with_prefix(c, prefix, name) : name, closure);
    }
    if (kind == PROPERTY_METHOD) {
        if (function->contains_super_property)
            emit_abc(c, OP_SET_HOME, closure, property->object, 0);
        emit_define(c, property, closure);
        return;
    }
    Register key = property->key_register;
    if (!property->key.is_dynamic) {
        key = register_new(c);
        emit_property_key(c, &property->key, key);
    }
    FlowOp op = kind == PROPERTY_GETTER ? OP_DEFINE_GETTER : OP_DEFINE_SETTER;
    emit_abc(c, op, property->object, key, closure);
}

static void compile_object_item(FlowCompiler *c, FlowNode *item, Register object) {
    if (item->kind == NODE_SPREAD) {
        Register source = compile_any(c, item->unary.operand);
        emit_position(c, item->unary.operand->start);
        emit_abc(c, OP_COPY_PROPERTIES, object, source, 0);
        return;
    }
    if (item->op == PROPERTY_PROTO) {
        emit_abc(c, OP_SET_PROTO, object, compile_any(c, item->property.value), 0);
        return;
    }
    Property property = {.node = item, .object = object, .key_register = NO_REGISTER};
    property.key = property_key(c, item->property.key, item->flags & FLAG_COMPUTED);
    if (property.key.is_dynamic) {
        property.key_register = compile_next(c, item->property.key);
        emit_position(c, item->property.key->at);
        emit_abc(c, OP_TO_PROPERTY_KEY, property.key_register, property.key_register, 0);
    }
    if (item->op == PROPERTY_VALUE || item->op == PROPERTY_SHORTHAND)
        compile_object_value(c, &property);
    else compile_object_method(c, &property);
}

void compile_object(FlowCompiler *c, FlowNode *node, Register dst) {
    Register object = register_scratch(c, dst); // [compile-object-1]
    emit_wide(c, OP_NEW_OBJECT, object, (int32_t)node->list.count);
    for (uint32_t i = 0; i < node->list.count; i++) {
        Register mark = c->top;
        compile_object_item(c, node->list.items[i], object);
        c->top = mark;
    }
    emit_move(c, dst, object);
}
