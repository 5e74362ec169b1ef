// Property access: o.x, o[x], o.#x, super.x, optional chains, delete.
//
//   [member-1] A name that is no array index is accessed through a site (inline cache); everything
//        else, and names beyond SITE_MAX, as an element.
//   [member-2] Inside an optional chain a link that finds nullish jumps to the chain's end,
//        whatever has been put into registers: they are temporaries.

#include "flow/compile/nodes.h"
#include "flow/value/error.h"

// `op` is GET_FIELD or GET_LENGTH (a = b.key), or SET_FIELD (a.key = b).
static void emit_named(FlowCompiler *c, FlowOp op, Register a, Register b, FlowValue key) {
    uint32_t site = site_new(c, key);
    if (site != NO_REGISTER) {
        emit_abc(c, op, a, b, site);
        return;
    }
    Register mark = c->top;
    Register reg = register_new(c);
    emit_wide(c, OP_LOAD_CONST, reg, (int32_t)constant_index(c, key));
    if (op == OP_SET_FIELD) emit_abc(c, OP_SET_ELEMENT, a, reg, b);
    else emit_abc(c, OP_GET_ELEMENT, a, b, reg);
    c->top = mark;
}

void emit_get_field(FlowCompiler *c, Register dst, Register object, const FlowName *name) {
    bool is_length = str_equal(name->text, STR("length"));
    emit_named(c, is_length ? OP_GET_LENGTH : OP_GET_FIELD, dst, object, name_atom(c, name));
}

void emit_set_field(FlowCompiler *c, Register object, Register value, const FlowName *name) {
    emit_named(c, OP_SET_FIELD, object, value, name_atom(c, name));
}

static void compile_optional_link(FlowCompiler *c, const FlowNode *node, Register object) {
    if (node->flags & FLAG_OPTIONAL) emit_jump_if(c, OP_JUMP_IF_NULLISH, object, &c->chain->exits);
}

static void compile_index_of(FlowCompiler *c, FlowNode *node, Register object, Register dst) {
    FlowNode *index = node->binary.right;
    uint32_t number;
    if (index->kind == NODE_STRING && !text_is_index(index->string.text, &number)) {
        FlowValue key;
        constant_of(c, index, &key);
        emit_position(c, node->at);
        emit_named(c, OP_GET_FIELD, dst, object, key);
        return;
    }
    Register key = compile_any(c, index);
    emit_position(c, node->at);
    emit_abc(c, OP_GET_ELEMENT, dst, object, key);
}

void compile_member_of(FlowCompiler *c, FlowNode *node, Register object, Register dst) {
    Register mark = c->top;
    compile_optional_link(c, node, object);
    if (node->kind == NODE_MEMBER) {
        emit_position(c, node->at);
        emit_get_field(c, dst, object, node->member.name);
    } else if (node->kind == NODE_INDEX) {
        compile_index_of(c, node, object, dst);
    } else {
        Register key = variable_any(c, use_of(node->binary.right));
        emit_position(c, node->at);
        emit_abc(c, OP_GET_PRIVATE, dst, object, key);
    }
    c->top = mark;
}

void compile_super_block(FlowCompiler *c, FlowNode *node, Register block) {
    const FlowSuper *super = node->super_access.super;
    compile_this(c, &super->this_value, node->start, block + 2);
    if (node->kind == NODE_SUPER_MEMBER) {
        emit_wide(c, OP_LOAD_CONST, block + 1, (int32_t)name_constant(c, node->super_access.name));
    } else {
        compile_expression(c, node->super_access.index, block + 1);
    }
    variable_load(c, (Use){&super->home_object, NULL, node->at}, block);
}

void compile_member(FlowCompiler *c, FlowNode *node, Register dst) {
    if (node->kind == NODE_SUPER_MEMBER || node->kind == NODE_SUPER_INDEX) {
        Register block = register_block(c, 3);
        compile_super_block(c, node, block);
        emit_position(c, node->at);
        emit_abc(c, OP_GET_SUPER, dst, block, 0);
        return;
    }
    FlowNode *object = node->kind == NODE_MEMBER ? node->member.object : node->binary.left;
    const FlowNode *later = node->kind == NODE_INDEX ? node->binary.right : NULL;
    // A temporary destination may hold the object first: long chains need one register.
    bool is_scratch = !c->is_variable.data[dst] && !later && object->kind != NODE_IDENTIFIER &&
                      object->kind != NODE_THIS;
    Register base = dst;
    if (is_scratch) compile_expression(c, object, dst);
    else base = compile_stable(c, object, later);
    compile_member_of(c, node, base, dst);
}

void compile_optional_chain(FlowCompiler *c, FlowNode *node, Register dst) {
    JumpList end = {0};
    OptionalChain chain = {.outer = c->chain};
    c->chain = &chain;
    Register value = register_scratch(c, dst);
    compile_expression(c, node->unary.operand, value);
    c->chain = chain.outer;
    emit_jump(c, &end);
    jump_patch_here(c, &chain.exits);
    emit_abc(c, OP_LOAD_UNDEFINED, value, 0, 0);
    jump_patch_here(c, &end);
    emit_move(c, dst, value);
}

// --- delete
static void compile_delete_member(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowNode *left = node->kind == NODE_MEMBER ? node->member.object : node->binary.left;
    Register object = compile_stable(c, left, node->kind == NODE_INDEX ? node->binary.right : NULL);
    compile_optional_link(c, node, object);
    Register key;
    if (node->kind == NODE_MEMBER) {
        key = register_new(c);
        emit_wide(c, OP_LOAD_CONST, key, (int32_t)name_constant(c, node->member.name));
    } else {
        key = compile_any(c, node->binary.right);
    }
    emit_position(c, node->at);
    emit_abc(c, OP_DELETE_ELEMENT, dst, object, key);
}

static void compile_delete_chain(FlowCompiler *c, FlowNode *node, Register dst) {
    JumpList end = {0};
    OptionalChain chain = {.outer = c->chain};
    Register value = register_scratch(c, dst);
    c->chain = &chain;
    FlowNode *operand = node->unary.operand;
    if (operand->kind == NODE_MEMBER || operand->kind == NODE_INDEX) {
        compile_delete_member(c, operand, value);
    } else {
        compile_discard(c, operand);
        emit_abc(c, OP_LOAD_TRUE, value, 0, 0);
    }
    c->chain = chain.outer;
    emit_jump(c, &end);
    jump_patch_here(c, &chain.exits);
    emit_abc(c, OP_LOAD_TRUE, value, 0, 0);
    jump_patch_here(c, &end);
    emit_move(c, dst, value);
}

void compile_delete(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowNode *operand = node->unary.operand;
    switch (operand->kind) {
    case NODE_MEMBER:
    case NODE_INDEX: compile_delete_member(c, operand, dst); break;
    case NODE_OPTIONAL_CHAIN: compile_delete_chain(c, operand, dst); break;
    case NODE_SUPER_MEMBER:
    case NODE_SUPER_INDEX: {
        Register block = register_block(c, 3);
        compile_super_block(c, operand, block);
        FlowValue text = flow_module_string(c->module, STR("Unsupported reference to 'super'"));
        emit_position(c, operand->at);
        emit_wide(c, OP_THROW_ERROR, ERROR_KIND_REFERENCE, (int32_t)constant_index(c, text));
        break;
    }
    default:
        compile_discard(c, operand);
        emit_abc(c, OP_LOAD_TRUE, dst, 0, 0);
        break;
    }
}
