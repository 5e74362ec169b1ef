// Constants: the values an instruction can name by number, and folding of literals.
//
//   [constant-1] A function's constant table holds each value once.
//   [constant-2] Every string constant is an atom of the module, so equal strings have equal bits.
//   [constant-3] Folding gives exactly what the operator would give at run time: numbers and
//        strings only.

#include "base/memory.h"
#include "base/text/number.h"
#include "flow/compile/internal.h"
#include "flow/value/operators.h"
#include "flow/value/string.h"

// Each slot is two words: the stamp of the function that wrote it, and the constant's index.
static void constant_table_grow(FlowCompiler *c) {
    uint32_t old_capacity = c->constant_table.capacity;
    uint32_t capacity = old_capacity ? old_capacity * 2 : 64;
    mem_free(c->constant_table.slots);
    c->constant_table.slots = mem_zalloc((size_t)capacity * 2 * sizeof(uint32_t));
    c->constant_table.capacity = capacity;
    for (uint32_t i = 0; i < c->constants.count; i++) {
        uint64_t hash = c->constants.data[i].bits * 0x9E3779B97F4A7C15ull;
        uint32_t at = (uint32_t)(hash >> 32) & (capacity - 1);
        while (c->constant_table.slots[2 * at] == c->stamp) at = (at + 1) & (capacity - 1);
        c->constant_table.slots[2 * at] = c->stamp;
        c->constant_table.slots[2 * at + 1] = i;
    }
}

uint32_t constant_index(FlowCompiler *c, FlowValue value) {
    if (c->constants.count * 2 >= c->constant_table.capacity) constant_table_grow(c);
    uint32_t mask = c->constant_table.capacity - 1;
    uint32_t at = (uint32_t)((value.bits * 0x9E3779B97F4A7C15ull) >> 32) & mask;
    uint32_t *slots = c->constant_table.slots;
    for (; slots[2 * at] == c->stamp; at = (at + 1) & mask) {
        uint32_t index = slots[2 * at + 1];
        if (c->constants.data[index].bits == value.bits) return index;
    }
    slots[2 * at] = c->stamp;
    slots[2 * at + 1] = (uint32_t)c->constants.count;
    vec_push(&c->constants, value);
    return (uint32_t)c->constants.count - 1;
}

uint32_t constant_short(FlowCompiler *c, FlowValue value) {
    uint32_t index = constant_index(c, value);
    if (index > UINT16_MAX) {
        compile_limit(c, NO_OFFSET, "different constants");
        return 0;
    }
    return index;
}

FlowValue name_atom(FlowCompiler *c, const FlowName *name) {
    NameCache *cache = &c->names[name->id];
    if (flow_is_hole(cache->atom)) cache->atom = flow_module_string(c->module, name->text);
    return cache->atom;
}

uint32_t name_constant(FlowCompiler *c, const FlowName *name) {
    NameCache *cache = &c->names[name->id];
    if (cache->constant_stamp != c->stamp) {
        cache->constant_index = constant_index(c, name_atom(c, name));
        cache->constant_stamp = c->stamp;
    }
    return cache->constant_index;
}

uint32_t site_new(FlowCompiler *c, FlowValue key) {
    if (c->sites.count >= SITE_MAX) return NO_REGISTER;
    vec_push(&c->sites, (FlowSite){key});
    return (uint32_t)c->sites.count - 1;
}

uint32_t site_global(FlowCompiler *c, const FlowName *name) {
    NameCache *cache = &c->names[name->id];
    if (cache->site_stamp == c->stamp) return cache->site_index;
    if (c->sites.count >= UINT16_MAX) {
        compile_limit(c, NO_OFFSET, "different global names");
        return 0;
    }
    vec_push(&c->sites, (FlowSite){name_atom(c, name)});
    cache->site_stamp = c->stamp;
    cache->site_index = (uint32_t)c->sites.count - 1;
    return cache->site_index;
}

void emit_constant(FlowCompiler *c, FlowValue value, Register dst) {
    if (flow_is_int(value)) {
        emit_wide(c, OP_LOAD_INT, dst, flow_as_int(value));
    } else if (flow_is_undefined(value)) {
        emit_abc(c, OP_LOAD_UNDEFINED, dst, 0, 0);
    } else if (flow_is_null(value)) {
        emit_abc(c, OP_LOAD_NULL, dst, 0, 0);
    } else if (flow_is_boolean(value)) {
        emit_abc(c, flow_is_true(value) ? OP_LOAD_TRUE : OP_LOAD_FALSE, dst, 0, 0);
    } else {
        emit_wide(c, OP_LOAD_CONST, dst, (int32_t)constant_index(c, value));
    }
}

bool text_is_index(Str text, uint32_t *ret_index) {
    if (text.len == 0 || text.len > 10) return false;
    if (text.data[0] == '0' && text.len > 1) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return false;
        value = value * 10 + (uint64_t)(text.data[i] - '0');
    }
    if (value >= UINT32_MAX) return false; // 2^32-1 is no array index
    *ret_index = (uint32_t)value;
    return true;
}

// --- BigInt
// digits * base + digit, over little-endian 32-bit digits.
static void magnitude_add(uint32_t *digits, size_t *count, uint32_t base, uint32_t digit) {
    uint64_t carry = digit;
    for (size_t i = 0; i < *count; i++) {
        carry += (uint64_t)digits[i] * base;
        digits[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) digits[(*count)++] = (uint32_t)carry;
}

static uint32_t digit_value(char ch) {
    if (ch <= '9') return (uint32_t)(ch - '0');
    return (uint32_t)((ch | 0x20) - 'a' + 10);
}

static FlowValue bigint_constant(FlowCompiler *c, Str digits) {
    uint32_t base = 10;
    size_t at = 0;
    if (digits.len > 2 && digits.data[0] == '0' && digits.data[1] > '9') {
        base = digits.data[1] == 'x' ? 16 : digits.data[1] == 'o' ? 8 : 2;
        at = 2;
    }
    if (digits.len > 20000) { // conversion is quadratic; a literal of this size is a mistake
        compile_limit(c, NO_OFFSET, "digits in a BigInt literal");
        return flow_int(0);
    }
    uint32_t *magnitude = ARENA_ARRAY(c->arena, uint32_t, digits.len / 8 + 2);
    size_t count = 0;
    for (; at < digits.len; at++)
        magnitude_add(magnitude, &count, base, digit_value(digits.data[at]));
    return flow_module_bigint(c->module, magnitude, count);
}

// --- folding
static bool fold_numbers(FlowOperator op, double a, double b, double *ret) {
    int32_t x = flow_double_to_int32(a);
    int32_t y = flow_double_to_int32(b);
    switch (op) {
    case OPERATOR_ADD: *ret = a + b; return true;
    case OPERATOR_SUBTRACT: *ret = a - b; return true;
    case OPERATOR_MULTIPLY: *ret = a * b; return true;
    case OPERATOR_DIVIDE: *ret = a / b; return true;
    case OPERATOR_BIT_AND: *ret = x & y; return true;
    case OPERATOR_BIT_OR: *ret = x | y; return true;
    case OPERATOR_BIT_XOR: *ret = x ^ y; return true;
    case OPERATOR_SHIFT_LEFT: *ret = (int32_t)((uint32_t)x << (y & 31)); return true;
    case OPERATOR_SHIFT_RIGHT: *ret = x >> (y & 31); return true;
    case OPERATOR_SHIFT_RIGHT_UNSIGNED: *ret = (uint32_t)x >> (y & 31); return true;
    default: return false; // % and ** have cases of their own at run time
    }
}

static bool fold_binary(FlowCompiler *c, const FlowNode *node, FlowValue *ret_value) {
    FlowValue left;
    FlowValue right;
    double number;
    // Only literals on the right: a look into nested operands at every level would be quadratic.
    uint8_t kind = node->binary.right->kind;
    if (kind != NODE_NUMBER && kind != NODE_UNARY) return false;
    if (!constant_of(c, node->binary.right, &right) || !flow_is_number(right)) return false;
    if (!constant_of(c, node->binary.left, &left) || !flow_is_number(left)) return false;
    if (!fold_numbers((FlowOperator)node->op, flow_as_number(left), flow_as_number(right), &number))
        return false;
    *ret_value = flow_number(number);
    return true;
}

static bool fold_unary(FlowCompiler *c, const FlowNode *node, FlowValue *ret_value) {
    FlowValue operand;
    if (node->op == OPERATOR_DELETE || node->op == OPERATOR_TYPEOF) return false;
    if (node->unary.operand->kind == NODE_UNARY) return false; // as in fold_binary
    if (!constant_of(c, node->unary.operand, &operand)) return false;
    if (node->op == OPERATOR_VOID) {
        *ret_value = FLOW_UNDEFINED;
        return true;
    }
    if (node->op == OPERATOR_NOT) {
        if (!flow_is_boolean(operand) && !flow_is_nullish(operand)) return false;
        *ret_value = flow_bool(!flow_is_true(operand));
        return true;
    }
    if (!flow_is_number(operand)) return false;
    double number = flow_as_number(operand);
    if (node->op == OPERATOR_NEGATE) number = -number;
    if (node->op == OPERATOR_BIT_NOT) number = ~flow_double_to_int32(number);
    *ret_value = flow_number(number);
    return true;
}

static bool constant_of_global(const FlowNode *node, FlowValue *ret_value) {
    if (node->reference.to.access != ACCESS_GLOBAL) return false;
    Str name = node->reference.name->text; // these three cannot be assigned
    if (str_equal(name, STR("undefined"))) *ret_value = FLOW_UNDEFINED;
    else if (str_equal(name, STR("NaN"))) *ret_value = FLOW_NAN;
    else if (str_equal(name, STR("Infinity"))) *ret_value = flow_number((double)INFINITY);
    else return false;
    return true;
}

bool constant_of(FlowCompiler *c, const FlowNode *node, FlowValue *ret_value) {
    switch (node->kind) {
    case NODE_UNDEFINED: *ret_value = FLOW_UNDEFINED; return true;
    case NODE_NULL: *ret_value = FLOW_NULL; return true;
    case NODE_TRUE: *ret_value = FLOW_TRUE; return true;
    case NODE_FALSE: *ret_value = FLOW_FALSE; return true;
    case NODE_NUMBER: *ret_value = flow_number(node->number); return true;
    case NODE_BIGINT: *ret_value = bigint_constant(c, node->string.text); return true;
    case NODE_STRING:
        *ret_value = node->string.name ? name_atom(c, node->string.name)
                                       : flow_module_string(c->module, node->string.text);
        return true;
    case NODE_TEMPLATE:
        if (node->template.expressions.count > 0) return false;
        *ret_value = flow_module_string(c->module, node->template.parts[0].cooked);
        return true;
    case NODE_IDENTIFIER: return constant_of_global(node, ret_value);
    case NODE_UNARY: return fold_unary(c, node, ret_value);
    case NODE_BINARY: return fold_binary(c, node, ret_value);
    default: return false;
    }
}

bool node_is_short_int(const FlowNode *node, int32_t *ret_value) {
    double number;
    if (node->kind == NODE_NUMBER) {
        number = node->number;
    } else if (node->kind == NODE_UNARY && node->op == OPERATOR_NEGATE &&
               node->unary.operand->kind == NODE_NUMBER && node->unary.operand->number != 0) {
        number = -node->unary.operand->number;
    } else {
        return false;
    }
    if (!(number >= INT16_MIN && number <= INT16_MAX)) return false;
    *ret_value = (int32_t)number;
    return (double)*ret_value == number;
}
