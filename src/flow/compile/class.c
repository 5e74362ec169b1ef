// Classes: constructor and prototype, methods, fields, private names, static blocks.
//
// Order of evaluation: heritage; then the elements in source order (closures and computed keys);
// then the inner name is bound; then static private methods, static fields and blocks.
//
//   [class-1] Fields run in a routine of their own (ROUTINE_FIELDS) with the instance, or the class
//        itself, as `this`. Private methods are added at its start.
//   [class-2] A private method is one function object, made with the class. The routine that gives
//        it to instances has it as an additional upvalue, by value, behind its captures.

#include "flow/compile/nodes.h"

typedef struct ClassBuild {
    FlowClass *definition;
    Register block; // constructor, prototype
    VEC(ExtraUpvalue) instance_extras;
    VEC(ExtraUpvalue) static_extras;
} ClassBuild;

static bool element_is_static(const FlowNode *element) { return element->flags & FLAG_STATIC; }
static bool element_is_private(const FlowNode *element) {
    return element->element.key && element->element.key->kind == NODE_PRIVATE_NAME &&
           !(element->flags & FLAG_COMPUTED);
}

static void class_declare_private_names(FlowCompiler *c, FlowScope *scope) {
    for (FlowVariable *variable = scope->variables; variable; variable = variable->next) {
        if (variable->kind != VARIABLE_PRIVATE) continue;
        Register mark = c->top;
        bool is_boxed = variable_is_boxed(variable);
        Register key = is_boxed ? register_new(c) : variable->reg;
        bool is_field = variable->private_kind == PRIVATE_FIELD;
        emit_wide(c, is_field ? OP_NEW_PRIVATE_NAME : OP_NEW_PRIVATE_METHOD_NAME, key,
                  (int32_t)name_constant(c, variable->name));
        if (is_boxed) emit_abc(c, OP_SET_BOX, variable->reg, key, 0);
        c->top = mark;
    }
}

static uint32_t accessor_prefix_id(const FlowNode *element) {
    return element->op == ELEMENT_GETTER ? 1 : element->op == ELEMENT_SETTER ? 2 : 0;
}

static FlowValue method_name(FlowCompiler *c, const FlowNode *element, FlowValue name) {
    if (element->op == ELEMENT_GETTER) return name_with_prefix(c, "get ", name);
    if (element->op == ELEMENT_SETTER) return name_with_prefix(c, "set ", name);
    return name;
}

// A private method is made once, with the class; instances get it from the field routine.
static void class_private_method(FlowCompiler *c, ClassBuild *build, FlowNode *element) {
    const FlowNode *key = element->element.key;
    Register home = element_is_static(element) ? build->block : build->block + 1;
    Register closure = register_new(c); // stays in use until the class is complete
    compile_closure(c, element->element.value->function,
                    method_name(c, element, name_atom(c, key->reference.name)), closure);
    emit_abc(c, OP_SET_HOME, closure, home, 0);
    ExtraUpvalue extra = {closure, element};
    if (element_is_static(element)) vec_push(&build->static_extras, extra);
    else vec_push(&build->instance_extras, extra);
}

static void class_public_method(FlowCompiler *c, ClassBuild *build, FlowNode *element) {
    Register mark = c->top;
    Register target = element_is_static(element) ? build->block : build->block + 1;
    FlowNode *key_node = element->element.key;
    PropertyKey key = property_key(c, key_node, element->flags & FLAG_COMPUTED);
    Register key_register = register_new(c);
    Register closure = register_new(c);
    FlowFunction *function = element->element.value->function;
    if (key.is_dynamic) {
        compile_expression(c, key_node, key_register);
        emit_position(c, key_node->at);
        emit_abc(c, OP_TO_PROPERTY_KEY, key_register, key_register, 0);
        compile_closure(c, function, flow_module_string(c->module, STR("")), closure);
        emit_abc(c, OP_SET_FUNCTION_NAME, closure, key_register, accessor_prefix_id(element));
    } else {
        emit_property_key(c, &key, key_register);
        compile_closure(c, function, method_name(c, element, property_key_text(c, &key)), closure);
    }
    FlowOp op = element->op == ELEMENT_GETTER   ? OP_DEFINE_CLASS_GETTER
                : element->op == ELEMENT_SETTER ? OP_DEFINE_CLASS_SETTER
                                                : OP_DEFINE_METHOD;
    emit_position(c, key_node->start);
    emit_abc(c, op, target, key_register, closure);
    c->top = mark;
}

static void class_element(FlowCompiler *c, ClassBuild *build, FlowNode *element) {
    if (element->op == ELEMENT_STATIC_BLOCK) return; // belongs to the static fields
    if (element->op == ELEMENT_FIELD) {
        if (!(element->flags & FLAG_COMPUTED)) return;
        Register mark = c->top; // a computed key waits in a variable of its own
        Register key = compile_next(c, element->element.key);
        emit_position(c, element->element.key->at);
        emit_abc(c, OP_TO_PROPERTY_KEY, key, key, 0);
        variable_initialize(c, (Use){&element->element.field_key->store, NULL, element->at}, key);
        c->top = mark;
    } else if (element_is_private(element)) {
        class_private_method(c, build, element);
    } else {
        class_public_method(c, build, element);
    }
}

// --- constructor and field routines
static uint32_t pending_add(FlowCompiler *c, Pending pending) {
    vec_push(&c->queue, pending);
    return pending.index;
}

static void class_constructor(FlowCompiler *c, FlowClass *definition, FlowValue name,
                              Register dst) {
    Pending pending = {.function = definition->constructor,
                       .class_definition = definition,
                       .name = name,
                       .has_fields = definition->instance_fields != NULL};
    if (definition->constructor) {
        pending.kind = PENDING_FUNCTION;
        pending.index = definition->constructor->id;
    } else {
        pending.kind = PENDING_DEFAULT_CONSTRUCTOR;
        pending.index = c->routine_count++;
    }
    emit_wide(c, OP_CLOSURE, dst, (int32_t)pending_add(c, pending));
}

static ExtraUpvalue *extras_copy(FlowCompiler *c, const ExtraUpvalue *extras, size_t count) {
    if (count == 0) return NULL;
    ExtraUpvalue *copy = ARENA_ARRAY(c->arena, ExtraUpvalue, count);
    memcpy(copy, extras, count * sizeof *copy);
    return copy;
}

static void class_fields_closure(FlowCompiler *c, ClassBuild *build, bool is_static, Register dst) {
    FlowClass *definition = build->definition;
    FlowFunction *function = is_static ? definition->static_fields : definition->instance_fields;
    Pending pending = {.kind = PENDING_FIELDS,
                       .function = function,
                       .class_definition = definition,
                       .is_static = is_static,
                       .index = function->id};
    Str name = is_static ? STR("<static_initializer>") : STR("<instance_members_initializer>");
    pending.name = flow_module_string(c->module, name);
    if (is_static) {
        pending.extra_count = (uint32_t)build->static_extras.count;
        pending.extras = extras_copy(c, build->static_extras.data, pending.extra_count);
    } else {
        pending.extra_count = (uint32_t)build->instance_extras.count;
        pending.extras = extras_copy(c, build->instance_extras.data, pending.extra_count);
    }
    emit_wide(c, OP_CLOSURE, dst, (int32_t)pending_add(c, pending));
    emit_abc(c, OP_SET_HOME, dst, is_static ? build->block : build->block + 1, 0);
}

static void class_finish(FlowCompiler *c, ClassBuild *build) {
    FlowClass *definition = build->definition;
    if (definition->instance_fields) {
        Register mark = c->top;
        Register closure = register_new(c);
        class_fields_closure(c, build, false, closure);
        emit_abc(c, OP_SET_FIELDS, build->block, closure, 0);
        c->top = mark;
    }
    FlowVariable *inner = definition->inner_variable;
    if (inner) {
        if (variable_is_boxed(inner)) emit_abc(c, OP_SET_BOX, inner->reg, build->block, 0);
        else emit_move(c, inner->reg, build->block);
    }
    if (definition->static_fields) {
        Register mark = c->top;
        Register call = register_block(c, 2);
        class_fields_closure(c, build, true, call);
        emit_move(c, call + 1, build->block);
        emit_abc(c, OP_CALL, call, 0, call);
        c->top = mark;
    }
}

void compile_class(FlowCompiler *c, FlowClass *definition, FlowValue name, Register dst) {
    ClassBuild build = {.definition = definition};
    Register mark = c->top;
    uint32_t start_pc = emit_here(c);
    if (definition->scope) {
        scope_enter_variables(c, definition->scope);
        class_declare_private_names(c, definition->scope);
    }
    build.block = register_block(c, 2);
    if (definition->heritage) compile_expression(c, definition->heritage, build.block);
    else emit_abc(c, OP_LOAD_HOLE, build.block, 0, 0);
    class_constructor(c, definition, name, build.block + 1);
    emit_position(c, definition->heritage ? definition->heritage->start : definition->start);
    emit_abc(c, OP_NEW_CLASS, build.block, 0, 0);
    for (uint32_t i = 0; i < definition->elements.count; i++)
        class_element(c, &build, definition->elements.items[i]);
    class_finish(c, &build);
    emit_move(c, dst, build.block);
    vec_free(&build.instance_extras);
    vec_free(&build.static_extras);
    scope_leave(c, definition->scope, mark, start_pc);
    c->top = mark;
}

// --- the routines [class-1]
static void fields_add_methods(FlowCompiler *c, const Pending *pending) {
    uint32_t base = upvalue_index(c, c->function, c->function->capture_count); // [class-2]
    for (uint32_t i = 0; i < pending->extra_count; i++) {
        const FlowNode *element = pending->extras[i].element;
        Register mark = c->top;
        Register key = register_new(c);
        Register method = register_new(c);
        variable_load(c, (Use){&element->element.field_key->load, NULL, element->at}, key);
        emit_wide(c, OP_LOAD_UPVALUE, method, (int32_t)(base + i));
        FlowOp op = element->op == ELEMENT_GETTER   ? OP_DEFINE_PRIVATE_GETTER
                    : element->op == ELEMENT_SETTER ? OP_DEFINE_PRIVATE_SETTER
                                                    : OP_DEFINE_PRIVATE_METHOD;
        emit_position(c, element->start);
        emit_abc(c, op, 0, key, method);
        c->top = mark;
    }
}

static void fields_run_block(FlowCompiler *c, const FlowNode *element) {
    Register mark = c->top;
    Register call = register_block(c, 2);
    compile_closure(c, element->element.value->function,
                    flow_module_string(c->module, STR("<static_initializer>")), call);
    emit_abc(c, OP_SET_HOME, call, 0, 0);
    emit_move(c, call + 1, 0);
    emit_position(c, element->start);
    emit_abc(c, OP_CALL, call, 0, call);
    c->top = mark;
}

static void fields_value(FlowCompiler *c, FlowNode *element, const PropertyKey *key,
                         Register key_register, Register value) {
    FlowNode *initializer = element->element.value;
    if (!initializer) {
        emit_abc(c, OP_LOAD_UNDEFINED, value, 0, 0);
    } else if (!node_is_anonymous_function(initializer)) {
        compile_expression(c, initializer, value);
    } else if (element_is_private(element)) {
        compile_named(c, initializer, name_atom(c, element->element.key->reference.name), value);
    } else if (key->is_dynamic) {
        compile_named(c, initializer, flow_module_string(c->module, STR("")), value);
        emit_abc(c, OP_SET_FUNCTION_NAME, value, key_register, 0);
    } else {
        compile_named(c, initializer, property_key_text(c, key), value);
    }
}

// A name known now: one instruction with an inline cache.
static bool fields_add_named(FlowCompiler *c, FlowNode *element) {
    if (element->element.field_key) return false;
    PropertyKey key = property_key(c, element->element.key, element->flags & FLAG_COMPUTED);
    if (key.is_dynamic || key.is_index) return false;
    uint32_t site = site_new(c, key.name);
    if (site == NO_REGISTER) return false;
    Register mark = c->top;
    Register value = register_new(c);
    fields_value(c, element, &key, NO_REGISTER, value);
    emit_position(c, element->start);
    emit_abc(c, OP_DEFINE_FIELD, 0, value, site);
    c->top = mark;
    return true;
}

static void fields_add_field(FlowCompiler *c, FlowNode *element) {
    if (fields_add_named(c, element)) return;
    Register mark = c->top;
    FlowNode *key_node = element->element.key;
    PropertyKey key = {.name = FLOW_HOLE};
    Register key_register = register_new(c);
    if (element->element.field_key) { // private or computed
        key.is_dynamic = true;
        variable_load(c, (Use){&element->element.field_key->load, NULL, element->at}, key_register);
    } else {
        key = property_key(c, key_node, element->flags & FLAG_COMPUTED);
        if (key.is_dynamic) compile_expression(c, key_node, key_register); // a BigInt
        else emit_property_key(c, &key, key_register);
    }
    Register value = register_new(c);
    fields_value(c, element, &key, key_register, value);
    emit_position(c, element->start);
    FlowOp op = element_is_private(element) ? OP_DEFINE_PRIVATE : OP_INIT_ELEMENT;
    emit_abc(c, op, 0, key_register, value);
    c->top = mark;
}

void compile_fields(FlowCompiler *c, const Pending *pending) {
    const FlowNodeList *elements = &pending->class_definition->elements;
    fields_add_methods(c, pending);
    for (uint32_t i = 0; i < elements->count; i++) {
        FlowNode *element = elements->items[i];
        if (element_is_static(element) != pending->is_static) continue;
        if (element->op == ELEMENT_FIELD) fields_add_field(c, element);
        else if (element->op == ELEMENT_STATIC_BLOCK) fields_run_block(c, element);
    }
    emit_abc(c, OP_RETURN_UNDEFINED, 0, 0, 0);
}

void compile_default_constructor(FlowCompiler *c, const Pending *pending) {
    const FlowClass *definition = pending->class_definition;
    if (!definition->heritage) {
        if (pending->has_fields) emit_init_fields(c, 0);
        emit_abc(c, OP_RETURN_UNDEFINED, 0, 0, 0);
        return;
    }
    Register value = register_new(c); // R0 this, R1 the rest array
    Register block = register_block(c, 3);
    emit_position(c, definition->start);
    emit_abc(c, OP_LOAD_CALLEE, block, 0, 0);
    emit_abc(c, OP_GET_SUPER_CONSTRUCTOR, block, block, 0);
    emit_abc(c, OP_LOAD_NEW_TARGET, block + 1, 0, 0);
    emit_move(c, block + 2, 1);
    emit_abc(c, OP_NEW_SPREAD, block, 0, value);
    if (pending->has_fields) emit_init_fields(c, value);
    emit_abc(c, OP_RETURN_DERIVED, value, value, 0);
}
