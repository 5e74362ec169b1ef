// Functions: prologue, parameters, the end, and the finished routine.
//
// Registers at entry are as code.h says: this, parameters, rest array, arguments object.
//
//   [compile-function-1] A parameter that is a plain name lives in the register its argument
//        arrives in, unless somebody may look at it before its turn (needs_tdz): then it has one of
//        its own.
//   [compile-function-2] Parameters are initialised from left to right, defaults and patterns in
//        between.
//   [compile-function-3] Generators suspend for the first time when the parameters are bound.

#include "flow/compile/nodes.h"

void compile_closure(FlowCompiler *c, FlowFunction *function, FlowValue name, Register dst) {
    Pending pending = {
        .kind = PENDING_FUNCTION, .function = function, .name = name, .index = function->id};
    vec_push(&c->queue, pending);
    emit_wide(c, OP_CLOSURE, dst, (int32_t)function->id);
}

void emit_init_fields(FlowCompiler *c, Register this_value) {
    Register mark = c->top;
    Register block = register_block(c, 2);
    emit_abc(c, OP_LOAD_CALLEE, block, 0, 0);
    emit_move(c, block + 1, this_value);
    emit_abc(c, OP_INIT_FIELDS, block, 0, 0);
    c->top = mark;
}

void emit_return(FlowCompiler *c, Register value) {
    if (!c->function || c->function->kind != FUNCTION_KIND_DERIVED_CONSTRUCTOR) {
        emit_abc(c, OP_RETURN, value, 0, 0);
        return;
    }
    Register mark = c->top;
    FlowVariable *this_variable = c->function->this_variable;
    Register this_value = register_new(c);
    if (this_variable) {
        FlowReference to = {.variable = this_variable,
                            .access = this_variable->is_captured ? ACCESS_CELL : ACCESS_LOCAL};
        variable_load(c, (Use){&to, NULL, c->function->end}, this_value);
    } else {
        emit_abc(c, OP_LOAD_HOLE, this_value, 0, 0); // super() is never called
    }
    emit_abc(c, OP_RETURN_DERIVED, value, this_value, 0);
    c->top = mark;
}

// --- parameters
static FlowNode *parameter_target(FlowNode *parameter) {
    if (parameter->kind == NODE_REST) parameter = parameter->unary.operand;
    return parameter->kind == NODE_DEFAULT ? parameter->binary.left : parameter;
}

static uint32_t positional_count(const FlowFunction *function) {
    uint32_t count = function->parameters.count;
    if (count > 0 && function->parameters.items[count - 1]->kind == NODE_REST) count--;
    return count;
}

// [compile-function-1]
static bool parameter_stays(const FlowNode *target) {
    return target->kind == NODE_IDENTIFIER && !target->reference.to.variable->needs_tdz;
}

// Registers for all parameter names; marks those that must look uninitialised.
static void parameters_declare(FlowCompiler *c, FlowFunction *function) {
    // Beyond the registers there are: the report says so already, nothing of this is used.
    if (function->parameters.count >= c->is_variable.count) return;
    for (uint32_t i = 0; i < function->parameters.count; i++) {
        FlowNode *target = parameter_target(function->parameters.items[i]);
        if (!parameter_stays(target)) continue;
        target->reference.to.variable->reg = 1 + i;
        c->is_variable.data[1 + i] = 1;
    }
    for (FlowVariable *v = function->parameter_scope->variables; v; v = v->next) {
        if (v->kind != VARIABLE_PARAMETER) continue;
        bool is_in_place =
            v->reg >= 1 && v->reg <= function->parameters.count && c->is_variable.data[v->reg] &&
            parameter_target(function->parameters.items[v->reg - 1])->kind == NODE_IDENTIFIER &&
            parameter_target(function->parameters.items[v->reg - 1])->reference.to.variable == v;
        if (is_in_place) continue;
        variable_declare(c, v);
        if (variable_is_boxed(v)) emit_abc(c, OP_NEW_BOX, v->reg, 0, 0);
        else if (v->needs_tdz) emit_abc(c, OP_LOAD_HOLE, v->reg, 0, 0);
    }
}

static void parameter_default(FlowCompiler *c, FlowNode *parameter, Register reg) {
    FlowNode *target = parameter->binary.left;
    JumpList given = {0};
    emit_jump_if(c, OP_JUMP_IF_NOT_UNDEFINED, reg, &given);
    if (target->kind == NODE_IDENTIFIER)
        compile_named(c, parameter->binary.right, name_atom(c, target->reference.name), reg);
    else compile_expression(c, parameter->binary.right, reg);
    jump_patch_here(c, &given);
}

static void parameter_bind(FlowCompiler *c, FlowNode *parameter, Register reg) {
    if (parameter->kind == NODE_REST) parameter = parameter->unary.operand;
    if (parameter->kind == NODE_DEFAULT) parameter_default(c, parameter, reg);
    FlowNode *target = parameter_target(parameter);
    if (target->kind != NODE_IDENTIFIER) {
        PatternSource source = {.value = reg, .text = FLOW_HOLE};
        if (parameter->kind == NODE_DEFAULT && target->kind == NODE_OBJECT_PATTERN) {
            Str text = STR("(intermediate value)(intermediate value)(intermediate value)");
            source.text = flow_module_string(c->module, text); // V8's view of the default
        }
        compile_pattern(c, target, source, PATTERN_DECLARE);
        return;
    }
    FlowVariable *variable = target->reference.to.variable;
    if (variable->reg != reg) variable_initialize(c, use_of(target), reg);
    else if (variable_is_boxed(variable)) emit_abc(c, OP_NEW_BOX_VALUE, reg, reg, 0);
}

// --- this, new.target, super, arguments and the function's own name, when closures need them
static void special_declare(FlowCompiler *c, FlowVariable *variable, FlowOp op) {
    if (!variable || !variable->is_captured) return;
    variable_declare(c, variable);
    emit_abc(c, op, variable->reg, 0, 0);
    if (variable_is_boxed(variable)) emit_abc(c, OP_NEW_BOX_VALUE, variable->reg, variable->reg, 0);
}

static void specials_declare(FlowCompiler *c, FlowFunction *function) {
    FlowVariable *this_variable = function->this_variable;
    if (this_variable && function->kind == FUNCTION_KIND_DERIVED_CONSTRUCTOR) {
        variable_declare(c, this_variable);
        bool is_boxed = variable_is_boxed(this_variable);
        emit_abc(c, is_boxed ? OP_NEW_BOX : OP_LOAD_HOLE, this_variable->reg, 0, 0);
    } else if (this_variable) {
        this_variable->reg = 0;
        if (variable_is_boxed(this_variable)) emit_abc(c, OP_NEW_BOX_VALUE, 0, 0, 0);
    }
    special_declare(c, function->new_target_variable, OP_LOAD_NEW_TARGET);
    special_declare(c, function->home_variable, OP_LOAD_HOME);
    special_declare(c, function->callee_variable, OP_LOAD_CALLEE);
    if (function->self_scope) special_declare(c, function->self_scope->variables, OP_LOAD_CALLEE);
}

static void prologue(FlowCompiler *c, const Pending *pending) {
    FlowFunction *function = pending->function;
    uint32_t count = function->parameters.count;
    register_block(c, count);
    FlowVariable *arguments = function->arguments_variable;
    if (arguments) {
        variable_declare(c, arguments);
        if (variable_is_boxed(arguments))
            emit_abc(c, OP_NEW_BOX_VALUE, arguments->reg, arguments->reg, 0);
    }
    if (pending->has_fields && function->kind == FUNCTION_KIND_CONSTRUCTOR) emit_init_fields(c, 0);
    specials_declare(c, function);
    parameters_declare(c, function);
    for (uint32_t i = 0; i < count; i++) // [compile-function-2]
        parameter_bind(c, function->parameters.items[i], 1 + i);
    if (function->is_generator) // [compile-function-3]
        emit_abc(c, OP_GENERATOR_START, 0, 0, c->top);
}

// --- the top level
static void compile_entry_call(FlowCompiler *c, const FlowEntry *entry) {
    Register block = register_block(c, 3);
    FlowReference to = {.variable = entry->variable,
                        .access = entry->variable->is_captured ? ACCESS_CELL : ACCESS_LOCAL};
    variable_load(c, (Use){&to, entry->name, entry->node->start}, block);
    emit_abc(c, OP_LOAD_UNDEFINED, block + 1, 0, 0);
    emit_move(c, block + 2, 1);
    emit_position(c, entry->node->start);
    emit_abc(c, OP_CALL, block, 1, block);
    emit_abc(c, OP_AWAIT, block, block, block);
    emit_abc(c, OP_RETURN, block, 0, 0);
}

static void compile_entries(FlowCompiler *c) {
    const FlowProgram *program = c->program;
    if (program->form != FORM_WORKFLOWS && program->form != FORM_DEFAULT) return;
    for (uint32_t i = 0; i < program->entry_count; i++) {
        Register mark = c->top;
        JumpList other = {0};
        if (i > INT16_MAX) {
            compile_limit(c, program->entries[i].node->start, "workflows");
            return;
        }
        if (program->entry_count > 1) emit_compare(c, OP_JUMP_STRICT_NE_INT, 2, i, &other);
        compile_entry_call(c, &program->entries[i]);
        jump_patch_here(c, &other);
        c->top = mark;
    }
}

// --- bodies
static void compile_body_of(FlowCompiler *c, FlowFunction *function) {
    if (function->has_expression_body) {
        emit_statement(c, function->body.items[0]);
        compile_return_value(c, function->body.items[0]);
        return;
    }
    scope_enter(c, function->body_scope);
    compile_statements(c, &function->body);
    if (function->kind == FUNCTION_KIND_PROGRAM) compile_entries(c);
    if (function->kind == FUNCTION_KIND_DERIVED_CONSTRUCTOR) {
        Register value = register_new(c);
        emit_abc(c, OP_LOAD_UNDEFINED, value, 0, 0);
        emit_position(c, function->end ? function->end - 1 : 0);
        emit_return(c, value);
        return;
    }
    emit_abc(c, OP_RETURN_UNDEFINED, 0, 0, 0);
}

static void state_reset(FlowCompiler *c) {
    c->top = 0;
    c->max_top = 0;
    c->stamp++;
    c->needs_far = false;
    c->control = NULL;
    c->chain = NULL;
    c->iterated = NULL;
    vec_clear(&c->code);
    vec_clear(&c->constants);
    vec_clear(&c->sites);
    vec_clear(&c->handlers);
    vec_clear(&c->positions);
    vec_clear(&c->statements);
    vec_clear(&c->descriptions);
    vec_clear(&c->variables);
    vec_clear(&c->templates);
    vec_clear(&c->jumps);
    vec_clear(&c->gaps);
    vec_clear(&c->is_variable);
    register_new(c); // R0
    c->is_variable.data[0] = 1;
}

static void compile_once(FlowCompiler *c, const Pending *pending) {
    state_reset(c);
    FlowFunction *function = pending->function;
    if (pending->kind == PENDING_DEFAULT_CONSTRUCTOR) {
        if (pending->class_definition->heritage) register_new(c); // the rest array
        compile_default_constructor(c, pending);
        return;
    }
    if (function->kind == FUNCTION_KIND_PROGRAM && !c->is_prelude)
        register_block(c, 2); // inputs, index of the workflow
    prologue(c, pending);
    if (pending->kind == PENDING_FIELDS) {
        compile_fields(c, pending);
        return;
    }
    if (function->kind == FUNCTION_KIND_PROGRAM && c->is_prelude)
        emit_abc(c, OP_RETURN_UNDEFINED, 0, 0, 0);
    else compile_body_of(c, function);
    if (function->body_scope != function->parameter_scope)
        scope_leave(c, function->body_scope, 1, 0);
    scope_leave(c, function->parameter_scope, 1, 0);
}

// --- the finished routine
static uint32_t routine_flags(const FlowCompiler *c, const Pending *pending) {
    uint32_t flags = c->is_prelude ? ROUTINE_PRELUDE : 0;
    const FlowFunction *function = pending->function;
    if (!function) {
        bool is_derived = pending->class_definition->heritage;
        return flags | ROUTINE_CONSTRUCTOR | (is_derived ? ROUTINE_DERIVED | ROUTINE_HAS_REST : 0);
    }
    if (function->is_async) flags |= ROUTINE_ASYNC;
    if (function->is_generator) flags |= ROUTINE_GENERATOR;
    if (positional_count(function) != function->parameters.count) flags |= ROUTINE_HAS_REST;
    if (function->arguments_variable) flags |= ROUTINE_HAS_ARGUMENTS;
    switch ((FlowFunctionKind)function->kind) {
    case FUNCTION_KIND_NORMAL: return flags | (c->is_prelude ? ROUTINE_METHOD : 0);
    case FUNCTION_KIND_ARROW: return flags | ROUTINE_ARROW;
    case FUNCTION_KIND_METHOD:
    case FUNCTION_KIND_GETTER:
    case FUNCTION_KIND_SETTER: return flags | ROUTINE_METHOD;
    case FUNCTION_KIND_CONSTRUCTOR: return flags | ROUTINE_CONSTRUCTOR;
    case FUNCTION_KIND_DERIVED_CONSTRUCTOR: return flags | ROUTINE_CONSTRUCTOR | ROUTINE_DERIVED;
    case FUNCTION_KIND_FIELDS:
    case FUNCTION_KIND_STATIC_BLOCK: return flags | ROUTINE_FIELDS | ROUTINE_METHOD;
    case FUNCTION_KIND_PROGRAM: return flags | ROUTINE_MODULE | (c->is_prelude ? 0 : ROUTINE_ASYNC);
    }
    return flags;
}

static void routine_upvalues(FlowCompiler *c, const Pending *pending, FlowRoutine *routine) {
    const FlowFunction *function = pending->function;
    uint32_t captured = function ? function->capture_count : 0;
    uint32_t total = captured + pending->extra_count;
    if (total == 0) return;
    if (total > UINT16_MAX) {
        compile_limit(c, NO_OFFSET, "variables of outer functions in use");
        return;
    }
    FlowUpvalue *upvalues = ARENA_ARRAY(&c->module->arena, FlowUpvalue, total);
    uint32_t count = 0;
    for (uint32_t i = 0; i < captured; i++) {
        const FlowCapture *capture = &function->captures[i];
        const FlowVariable *variable = capture->variable;
        if (variable_is_prelude(c, variable)) continue;
        uint32_t index = capture->is_parent_local
                             ? variable->reg
                             : upvalue_index(c, function->parent, capture->parent_index);
        upvalues[count++] =
            (FlowUpvalue){.index = (uint16_t)index,
                          .is_local = capture->is_parent_local,
                          .is_box = variable_is_boxed(variable),
                          .is_settable = variable_is_settable(variable),
                          .name = variable->name ? name_atom(c, variable->name)
                                                 : flow_module_string(c->module, STR("this"))};
    }
    for (uint32_t i = 0; i < pending->extra_count; i++) {
        const ExtraUpvalue *extra = &pending->extras[i];
        upvalues[count++] =
            (FlowUpvalue){.index = (uint16_t)extra->source,
                          .is_local = 1,
                          .name = name_atom(c, extra->element->element.key->reference.name)};
    }
    routine->upvalues = upvalues;
    routine->upvalue_count = (uint16_t)count;
}

#define ROUTINE_COPY(c, vec) routine_copy((c), (vec)->data, (vec)->count * sizeof(*(vec)->data))
static void *routine_copy(FlowCompiler *c, const void *data, size_t size) {
    if (size == 0) return NULL;
    void *copy = arena_alloc(&c->module->arena, size);
    memcpy(copy, data, size);
    return copy;
}

static FlowLine *routine_lines(FlowCompiler *c, const PositionNote *notes, size_t count) {
    FlowLine *lines = ARENA_ARRAY(&c->module->arena, FlowLine, count + 1);
    for (size_t i = 0; i < count; i++) {
        FlowPosition position = compile_position(c, notes[i].offset);
        lines[i] = (FlowLine){notes[i].pc, position.line, position.column};
    }
    return lines;
}

static void routine_positions(FlowCompiler *c, FlowRoutine *routine) {
    routine->positions = routine_lines(c, c->positions.data, c->positions.count);
    routine->position_count = (uint32_t)c->positions.count;
    if (c->is_prelude) return;
    routine->statements = routine_lines(c, c->statements.data, c->statements.count);
    routine->statement_count = (uint32_t)c->statements.count;
}

static void routine_finish(FlowCompiler *c, const Pending *pending) {
    FlowRoutine *routine = compile_routine_slot(c, pending->index);
    const FlowFunction *function = pending->function;
    routine->name = pending->name;
    routine->index = pending->index;
    routine->module = c->module;
    routine->flags = routine_flags(c, pending);
    routine->source_start = function ? function->start : pending->class_definition->start;
    routine->source_end = function ? function->end : pending->class_definition->end;
    if (pending->class_definition && pending->kind != PENDING_FIELDS) { // toString of a class
        routine->source_start = pending->class_definition->start;
        routine->source_end = pending->class_definition->end;
    }
    routine->register_count = (uint16_t)c->max_top;
    routine->length = function ? (uint16_t)function->length : 0;
    routine->parameter_count = function ? (uint16_t)positional_count(function) : 0;
    if (routine->flags & ROUTINE_MODULE && !c->is_prelude) routine->parameter_count = 2;
    routine->code = ROUTINE_COPY(c, &c->code);
    routine->code_count = (uint32_t)c->code.count;
    routine->constants = ROUTINE_COPY(c, &c->constants);
    routine->constant_count = (uint32_t)c->constants.count;
    routine->sites = ROUTINE_COPY(c, &c->sites);
    routine->site_count = (uint16_t)c->sites.count;
    routine->handlers = ROUTINE_COPY(c, &c->handlers);
    routine->handler_count = (uint32_t)c->handlers.count;
    routine->descriptions = ROUTINE_COPY(c, &c->descriptions);
    routine->description_count = (uint32_t)c->descriptions.count;
    routine->variables = ROUTINE_COPY(c, &c->variables);
    routine->variable_count = (uint32_t)c->variables.count;
    routine->templates = ROUTINE_COPY(c, &c->templates);
    routine->template_count = (uint32_t)c->templates.count;
    routine_upvalues(c, pending, routine);
    routine_positions(c, routine);
}

void compile_routine(FlowCompiler *c, const Pending *pending) {
    c->pending = pending;
    c->function = pending->function;
    c->is_far = false;
    uint32_t queue_count = (uint32_t)c->queue.count;
    uint32_t routine_count = c->routine_count;
    compile_once(c, pending);
    if (c->needs_far) { // [compile-internal-4]
        c->queue.count = queue_count;
        c->routine_count = routine_count;
        c->is_far = true;
        compile_once(c, pending);
    }
    if (!c->has_failed) routine_finish(c, pending);
}
