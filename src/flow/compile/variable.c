// Variables: which register or box holds one, and how it is read and written.
//
//   [variable-1] A captured variable that never changes after its initialisation, and whose
//        initialisation comes before every closure that uses it, is captured by value: it stays
//        in its register. All other captured variables live in boxes (box in the register).
//   [variable-2] new.target, the home object, the callee and the name of a function expression take
//        a register only when a closure needs them; otherwise each use loads them.
//   [variable-3] In the prelude the top-level functions are no variables: LOAD_PRELUDE makes them.

#include "flow/compile/nodes.h"

Register register_block(FlowCompiler *c, uint32_t count) {
    Register first = c->top;
    if (first + count > REGISTER_MAX) {
        compile_limit(c, NO_OFFSET, "variables and values at once");
        return 0;
    }
    c->top += count;
    if (c->top > c->max_top) {
        c->max_top = c->top;
        vec_reserve(&c->is_variable, c->max_top);
        while (c->is_variable.count < c->max_top) vec_push(&c->is_variable, 0);
    }
    return first;
}

Register register_new(FlowCompiler *c) { return register_block(c, 1); }

Register register_scratch(FlowCompiler *c, Register dst) {
    return c->is_variable.data[dst] ? register_new(c) : dst;
}

bool variable_is_prelude(const FlowCompiler *c, const FlowVariable *variable) {
    return c->is_prelude && variable->function == c->program->main; // [variable-3]
}

bool variable_is_boxed(const FlowVariable *variable) { // [variable-1]
    if (!variable->is_captured) return false;
    if (variable->is_assigned || variable->needs_tdz) return true;
    switch (variable->kind) {
    case VARIABLE_VAR:
    case VARIABLE_FUNCTION:    // functions of one scope may use each other
    case VARIABLE_CLASS_INNER: // set when the methods exist already
    case VARIABLE_DEFAULT: return true;
    case VARIABLE_THIS: return variable->function->kind == FUNCTION_KIND_DERIVED_CONSTRUCTOR;
    default: return false;
    }
}

bool variable_is_settable(const FlowVariable *variable) {
    if (variable->is_captured && !variable_is_boxed(variable)) return false; // [variable-1]
    switch (variable->kind) {
    case VARIABLE_VAR:
    case VARIABLE_LET:
    case VARIABLE_PARAMETER:
    case VARIABLE_CATCH: return true;
    default: return false;
    }
}

static void variable_note(FlowCompiler *c, const FlowVariable *variable, uint32_t start_pc) {
    if (!variable->name || variable->kind >= VARIABLE_THIS) return;
    FlowLocalName note = {.name = name_atom(c, variable->name),
                          .start = start_pc,
                          .end = emit_here(c),
                          .reg = (uint16_t)variable->reg,
                          .is_box = variable_is_boxed(variable),
                          .is_settable = variable_is_settable(variable)};
    vec_push(&c->variables, note);
}

void variable_declare(FlowCompiler *c, FlowVariable *variable) {
    variable->reg = register_new(c);
    c->is_variable.data[variable->reg] = 1;
}

enum { REGISTER_HOISTED = 0xFFFFFFFE }; // marks a variable that a hoisted function fills

static void variable_begin(FlowCompiler *c, FlowVariable *variable) {
    bool is_hoisted = variable->reg == REGISTER_HOISTED;
    variable_declare(c, variable);
    bool is_boxed = variable_is_boxed(variable);
    if (variable->kind == VARIABLE_VAR && !is_hoisted) {
        if (variable->parameter) { // [scope.h S4]
            FlowReference parameter = {.variable = variable->parameter,
                                       .access = variable->parameter->is_captured ? ACCESS_CELL
                                                                                  : ACCESS_LOCAL};
            variable_load(c, (Use){&parameter, variable->name, variable->start}, variable->reg);
        } else {
            emit_abc(c, OP_LOAD_UNDEFINED, variable->reg, 0, 0);
        }
        if (is_boxed) emit_abc(c, OP_NEW_BOX_VALUE, variable->reg, variable->reg, 0);
    } else if (is_boxed) {
        emit_abc(c, OP_NEW_BOX, variable->reg, 0, 0);
    } else if (variable->needs_tdz) {
        emit_abc(c, OP_LOAD_HOLE, variable->reg, 0, 0);
    }
}

static FlowVariable *hoisted_variable(const FlowNode *node) {
    return node->function->name_node->reference.to.variable;
}

void scope_enter_variables(FlowCompiler *c, FlowScope *scope) {
    for (uint32_t i = 0; i < scope->functions.count; i++) {
        FlowVariable *variable = hoisted_variable(scope->functions.items[i]);
        if (variable->kind == VARIABLE_VAR) variable->reg = REGISTER_HOISTED;
    }
    for (FlowVariable *variable = scope->variables; variable; variable = variable->next) {
        switch (variable->kind) {
        case VARIABLE_VAR:
        case VARIABLE_LET:
        case VARIABLE_CONST:
        case VARIABLE_FUNCTION:
        case VARIABLE_CLASS:
        case VARIABLE_CATCH:
        case VARIABLE_DEFAULT:
        case VARIABLE_PRIVATE:
        case VARIABLE_FIELD_KEY: variable_begin(c, variable); break;
        case VARIABLE_CLASS_INNER:
            if (variable->is_used || variable->is_captured || variable->is_assigned)
                variable_begin(c, variable);
            else variable->reg = NO_REGISTER;
            break;
        default: break; // parameters and this belong to the function: compile/function.c
        }
    }
}

static void scope_hoist(FlowCompiler *c, FlowScope *scope) {
    for (uint32_t i = 0; i < scope->functions.count; i++) {
        FlowFunction *function = scope->functions.items[i]->function;
        FlowVariable *variable = hoisted_variable(scope->functions.items[i]);
        FlowValue name = name_atom(c, function->name);
        if (!variable_is_boxed(variable)) {
            compile_closure(c, function, name, variable->reg);
            continue;
        }
        Register mark = c->top;
        Register closure = register_new(c);
        compile_closure(c, function, name, closure);
        emit_abc(c, OP_SET_BOX, variable->reg, closure, 0);
        c->top = mark;
    }
}

void scope_enter(FlowCompiler *c, FlowScope *scope) {
    if (!scope) return;
    scope_enter_variables(c, scope);
    scope_hoist(c, scope);
}

void scope_renew(FlowCompiler *c, FlowScope *scope) {
    if (!scope) return;
    for (FlowVariable *variable = scope->variables; variable; variable = variable->next) {
        if (variable_is_boxed(variable)) emit_abc(c, OP_NEW_BOX, variable->reg, 0, 0);
        else if (variable->needs_tdz) emit_abc(c, OP_LOAD_HOLE, variable->reg, 0, 0);
    }
}

void scope_leave(FlowCompiler *c, FlowScope *scope, Register mark, uint32_t start_pc) {
    if (!scope) return;
    for (FlowVariable *variable = scope->variables; variable; variable = variable->next) {
        if (variable->reg < mark || variable->reg >= c->top) continue;
        variable_note(c, variable, start_pc);
        c->is_variable.data[variable->reg] = 0;
    }
    c->top = mark;
}

FlowVariable *prelude_function(const FlowCompiler *c, const FlowName *name) {
    return c->is_prelude ? c->names[name->id].prelude : NULL;
}

uint32_t upvalue_index(const FlowCompiler *c, const FlowFunction *function, uint32_t capture) {
    if (!c->is_prelude) return capture;
    uint32_t index = 0; // [variable-3]: captures of top-level functions are left out
    for (uint32_t i = 0; i < capture; i++)
        if (!variable_is_prelude(c, function->captures[i].variable)) index++;
    return index;
}

// --- reading
static bool variable_load_special(FlowCompiler *c, const FlowReference *to, Register dst) {
    if (to->access != ACCESS_LOCAL) return false; // [variable-2]
    switch (to->variable->kind) {
    case VARIABLE_NEW_TARGET: emit_abc(c, OP_LOAD_NEW_TARGET, dst, 0, 0); return true;
    case VARIABLE_HOME_OBJECT: emit_abc(c, OP_LOAD_HOME, dst, 0, 0); return true;
    case VARIABLE_CALLEE:
    case VARIABLE_FUNCTION_NAME: emit_abc(c, OP_LOAD_CALLEE, dst, 0, 0); return true;
    default: return false;
    }
}

static void variable_load_upvalue(FlowCompiler *c, Use use, Register dst) {
    int32_t index = (int32_t)upvalue_index(c, c->function, use.to->capture_index);
    if (!variable_is_boxed(use.to->variable)) {
        emit_wide(c, OP_LOAD_UPVALUE, dst, index);
    } else if (use.to->needs_tdz_check) {
        emit_position(c, use.at);
        emit_wide(c, OP_GET_UPVALUE_CHECKED, dst, index);
    } else {
        emit_wide(c, OP_GET_UPVALUE, dst, index);
    }
}

static void emit_check(FlowCompiler *c, Use use) {
    emit_position(c, use.at);
    emit_wide(c, OP_CHECK_INITIALIZED, use.to->variable->reg, (int32_t)name_constant(c, use.name));
}

void variable_load(FlowCompiler *c, Use use, Register dst) {
    const FlowVariable *variable = use.to->variable;
    if (!variable) {
        emit_position(c, use.at);
        emit_abc(c, OP_GET_GLOBAL, dst, 0, site_global(c, use.name));
        return;
    }
    if (variable_is_prelude(c, variable)) {
        uint32_t index = variable->reg; // set by compile/unit.c: the routine
        emit_wide(c, OP_LOAD_PRELUDE, dst, (int32_t)index);
        return;
    }
    if (use.to->access == ACCESS_CAPTURE) {
        variable_load_upvalue(c, use, dst);
    } else if (variable_load_special(c, use.to, dst)) {
        return;
    } else if (!variable_is_boxed(variable)) {
        if (use.to->needs_tdz_check) emit_check(c, use);
        emit_move(c, dst, variable->reg);
    } else if (use.to->needs_tdz_check) {
        emit_position(c, use.at);
        uint32_t name = constant_short(c, name_atom(c, use.name));
        emit_abc(c, OP_GET_BOX_CHECKED, dst, variable->reg, name);
    } else {
        emit_abc(c, OP_GET_BOX, dst, variable->reg, 0);
    }
}

static bool variable_is_in_register(const FlowCompiler *c, const FlowReference *to) {
    const FlowVariable *variable = to->variable;
    if (!variable || to->access == ACCESS_CAPTURE || variable_is_prelude(c, variable)) return false;
    if (variable_is_boxed(variable)) return false;
    if (to->access == ACCESS_CELL) return true; // captured by value
    return variable->kind != VARIABLE_NEW_TARGET && variable->kind != VARIABLE_HOME_OBJECT &&
           variable->kind != VARIABLE_CALLEE && variable->kind != VARIABLE_FUNCTION_NAME;
}

Register variable_any(FlowCompiler *c, Use use) {
    if (variable_is_in_register(c, use.to)) {
        if (use.to->needs_tdz_check) emit_check(c, use);
        return use.to->variable->reg;
    }
    Register reg = register_new(c);
    variable_load(c, use, reg);
    return reg;
}

// --- writing
static bool variable_is_constant(const FlowVariable *variable) {
    switch (variable->kind) {
    case VARIABLE_CONST:
    case VARIABLE_CLASS_INNER:
    case VARIABLE_FUNCTION_NAME: return true;
    default: return false;
    }
}

static void variable_store_checks(FlowCompiler *c, Use use) {
    const FlowVariable *variable = use.to->variable;
    Register mark = c->top;
    if (use.to->needs_tdz_check) {
        if (variable_is_in_register(c, use.to)) emit_check(c, use);
        else variable_load(c, use, register_new(c)); // the check is all that matters
    }
    if (variable_is_constant(variable)) {
        emit_position(c, use.at);
        emit_wide(c, OP_THROW_CONST_ASSIGN, 0, (int32_t)name_constant(c, use.name));
    }
    c->top = mark;
}

static void variable_write(FlowCompiler *c, Use use, Register value) {
    const FlowVariable *variable = use.to->variable;
    if (use.to->access == ACCESS_CAPTURE) {
        int32_t index = (int32_t)upvalue_index(c, c->function, use.to->capture_index);
        emit_wide(c, OP_SET_UPVALUE, value, index);
    } else if (variable_is_boxed(variable)) {
        emit_abc(c, OP_SET_BOX, variable->reg, value, 0);
    } else {
        emit_move(c, variable->reg, value);
    }
}

void variable_store(FlowCompiler *c, Use use, Register value) {
    const FlowVariable *variable = use.to->variable;
    if (!variable) {
        emit_position(c, use.at);
        emit_abc(c, OP_SET_GLOBAL, value, 0, site_global(c, use.name));
        return;
    }
    if (variable_is_constant(variable)) {
        variable_store_checks(c, use);
        return;
    }
    if (!use.to->needs_tdz_check) {
        variable_write(c, use, value);
        return;
    }
    emit_position(c, use.at);
    if (use.to->access == ACCESS_CAPTURE) {
        int32_t index = (int32_t)upvalue_index(c, c->function, use.to->capture_index);
        emit_wide(c, OP_SET_UPVALUE_CHECKED, value, index);
    } else if (variable_is_boxed(variable)) {
        uint32_t name = constant_short(c, name_atom(c, use.name));
        emit_abc(c, OP_SET_BOX_CHECKED, variable->reg, value, name);
    } else {
        emit_check(c, use);
        emit_move(c, variable->reg, value);
    }
}

void variable_initialize(FlowCompiler *c, Use use, Register value) {
    variable_write(c, use, value);
}

Register variable_target(FlowCompiler *c, Use use, bool is_declaration) {
    const FlowVariable *variable = use.to->variable;
    if (!variable_is_in_register(c, use.to)) return NO_REGISTER;
    if (is_declaration && variable->kind != VARIABLE_VAR) {
        // Until it is initialised a binding must stay uninitialised if anybody may look.
        return variable->needs_tdz ? NO_REGISTER : variable->reg;
    }
    if (use.to->needs_tdz_check || variable_is_constant(variable)) return NO_REGISTER;
    return variable->reg;
}

void compile_this(FlowCompiler *c, const FlowReference *to, uint32_t at, Register dst) {
    if (!to->variable) {
        emit_abc(c, OP_LOAD_UNDEFINED, dst, 0, 0);
        return;
    }
    FlowReference unchecked = *to; // CHECK_THIS has the message that names super()
    unchecked.needs_tdz_check = false;
    variable_load(c, (Use){&unchecked, to->variable->name, at}, dst);
    if (to->variable->function->kind == FUNCTION_KIND_DERIVED_CONSTRUCTOR && to->needs_tdz_check) {
        emit_position(c, at);
        emit_abc(c, OP_CHECK_THIS, dst, 0, 0);
    }
}
