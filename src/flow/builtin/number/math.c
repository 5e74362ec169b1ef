// Math: natives over number/math_functions.h, and those simple enough to be here.
//
//   [math-1] Every argument is converted, in order, before anything is computed: conversions show.
//   [math-2] Math.random asks the host once, for a seed that then is part of the run's state.
// Not here: the elementary functions themselves (number/math_exp.c, _pow.c, _trig.c).
#include "flow/builtin/number/math_functions.h"
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

typedef double (*MathFunction)(double);

typedef enum MathId { // magic of the functions of one argument
    MATH_ABS,
    MATH_ACOS,
    MATH_ACOSH,
    MATH_ASIN,
    MATH_ASINH,
    MATH_ATAN,
    MATH_ATANH,
    MATH_CBRT,
    MATH_CEIL,
    MATH_COS,
    MATH_COSH,
    MATH_EXP,
    MATH_EXPM1,
    MATH_FLOOR,
    MATH_FROUND,
    MATH_LOG,
    MATH_LOG10,
    MATH_LOG1P,
    MATH_LOG2,
    MATH_ROUND,
    MATH_SIGN,
    MATH_SIN,
    MATH_SINH,
    MATH_SQRT,
    MATH_TAN,
    MATH_TANH,
    MATH_TRUNC,
} MathId;

static double math_fround(double x) { return (double)(float)x; }

// Halves go up, also negative ones; the sign of zero is kept.
static double math_round(double x) {
    if (!isfinite(x) || fabs(x) >= 4503599627370496.0) return x;
    double below = floor(x);
    double result = x - below >= 0.5 ? below + 1 : below;
    return result == 0 ? copysign(0, x) : result;
}

static double math_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

static const MathFunction functions[] = {
    [MATH_ABS] = fabs,
    [MATH_ACOS] = flow_math_acos,
    [MATH_ACOSH] = flow_math_acosh,
    [MATH_ASIN] = flow_math_asin,
    [MATH_ASINH] = flow_math_asinh,
    [MATH_ATAN] = flow_math_atan,
    [MATH_ATANH] = flow_math_atanh,
    [MATH_CBRT] = flow_math_cbrt,
    [MATH_CEIL] = ceil,
    [MATH_COS] = flow_math_cos,
    [MATH_COSH] = flow_math_cosh,
    [MATH_EXP] = flow_math_exp,
    [MATH_EXPM1] = flow_math_expm1,
    [MATH_FLOOR] = floor,
    [MATH_FROUND] = math_fround,
    [MATH_LOG] = flow_math_log,
    [MATH_LOG10] = flow_math_log10,
    [MATH_LOG1P] = flow_math_log1p,
    [MATH_LOG2] = flow_math_log2,
    [MATH_ROUND] = math_round,
    [MATH_SIGN] = math_sign,
    [MATH_SIN] = flow_math_sin,
    [MATH_SINH] = flow_math_sinh,
    [MATH_SQRT] = sqrt,
    [MATH_TAN] = flow_math_tan,
    [MATH_TANH] = flow_math_tanh,
    [MATH_TRUNC] = trunc,
};

static FlowNativeResult math_unary(FlowVm *vm, FlowNativeCall *call) {
    uint16_t id = flow_native_magic(call);
    FlowValue first = flow_argument(call, 0);
    bool is_rounding = id == MATH_FLOOR || id == MATH_CEIL || id == MATH_ROUND || id == MATH_TRUNC;
    if (is_rounding && flow_is_int(first)) return flow_native_return(call, first);
    double x;
    TRY_NATIVE(flow_argument_number(vm, call, 0, &x));
    return flow_native_return(call, flow_number(functions[id](x)));
}

static FlowNativeResult math_atan2(FlowVm *vm, FlowNativeCall *call) {
    double y;
    double x;
    TRY_NATIVE(flow_argument_number(vm, call, 0, &y));
    TRY_NATIVE(flow_argument_number(vm, call, 1, &x));
    return flow_native_return(call, flow_number(flow_math_atan2(y, x)));
}

static FlowNativeResult math_pow(FlowVm *vm, FlowNativeCall *call) {
    double x;
    double y;
    TRY_NATIVE(flow_argument_number(vm, call, 0, &x));
    TRY_NATIVE(flow_argument_number(vm, call, 1, &y));
    return flow_native_return(call, flow_number(flow_math_pow(x, y)));
}

static FlowNativeResult math_imul(FlowVm *vm, FlowNativeCall *call) {
    double x;
    double y;
    TRY_NATIVE(flow_argument_number(vm, call, 0, &x));
    TRY_NATIVE(flow_argument_number(vm, call, 1, &y));
    uint32_t product = (uint32_t)flow_double_to_int32(x) * (uint32_t)flow_double_to_int32(y);
    return flow_native_return(call, flow_int((int32_t)product));
}

static FlowNativeResult math_clz32(FlowVm *vm, FlowNativeCall *call) {
    double x;
    TRY_NATIVE(flow_argument_number(vm, call, 0, &x));
    uint32_t bits = (uint32_t)flow_double_to_int32(x);
    return flow_native_return(call, flow_int(bits ? __builtin_clz(bits) : 32));
}

// magic: 1 for max, 0 for min.
static FlowNativeResult math_extreme(FlowVm *vm, FlowNativeCall *call) {
    bool is_max = flow_native_magic(call) == 1;
    double best = is_max ? -INFINITY : INFINITY;
    for (uint32_t i = 0; i < call->count; i++) {
        double x;
        TRY_NATIVE(flow_argument_number(vm, call, (int)i, &x));
        if (isnan(best)) continue; // [math-1]
        if (isnan(x)) best = NAN;
        else if (is_max ? x > best : x < best) best = x;
        else if (x == 0 && best == 0 && signbit(x) != is_max) best = x; // max prefers +0, min -0
    }
    return flow_native_return(call, flow_number(best));
}

// Scaled by the largest, so that squares neither overflow nor vanish; compensated summation.
static FlowNativeResult math_hypot(FlowVm *vm, FlowNativeCall *call) {
    double largest = 0;
    bool is_infinite = false;
    bool is_nan = false;
    for (uint32_t i = 0; i < call->count; i++) {
        double x;
        TRY_NATIVE(flow_argument_number(vm, call, (int)i, &x));
        if (isinf(x)) is_infinite = true;
        if (isnan(x)) is_nan = true;
        if (fabs(x) > largest) largest = fabs(x);
    }
    if (is_infinite) return flow_native_return(call, flow_double(INFINITY));
    if (is_nan) return flow_native_return(call, FLOW_NAN);
    if (largest == 0) return flow_native_return(call, flow_int(0));
    double sum = 0;
    double lost = 0;
    for (uint32_t i = 0; i < call->count; i++) {
        double x = 0;
        FlowNativeResult r = flow_argument_number(vm, call, (int)i, &x);
        ASSERT(r == NATIVE_OK);
        double scaled = fabs(x) / largest;
        double term = scaled * scaled - lost;
        double next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    return flow_native_return(call, flow_number(sqrt(sum) * largest));
}

static FlowNativeResult math_random(FlowVm *vm, FlowNativeCall *call) {
    uint64_t *state = vm->random_state;
    if (state[0] == 0 && state[1] == 0) { // [math-2]
        if (!vm->host || !vm->host->ops->random_u64) {
            return flow_native_throw(vm, ERROR_KIND_ERROR, "Math.random is not available here");
        }
        state[0] = vm->host->ops->random_u64(vm->host);
        state[1] = vm->host->ops->random_u64(vm->host) | 1;
    }
    uint64_t a = state[0]; // xorshift128+
    uint64_t b = state[1];
    state[0] = b;
    a ^= a << 23;
    a ^= a >> 17;
    a ^= b ^ b >> 26;
    state[1] = a;
    return flow_native_return(call, flow_number((double)((a + b) >> 11) * 0x1p-53));
}

#define MATH_CONSTANT(function, number)                                                            \
    static FlowNativeResult function(FlowVm *vm, FlowNativeCall *call) {                           \
        (void)vm;                                                                                  \
        return flow_native_return(call, flow_number(number));                                      \
    }
MATH_CONSTANT(math_e, 2.718281828459045)
MATH_CONSTANT(math_ln10, 2.302585092994046)
MATH_CONSTANT(math_ln2, 0.6931471805599453)
MATH_CONSTANT(math_log10e, 0.4342944819032518)
MATH_CONSTANT(math_log2e, 1.4426950408889634)
MATH_CONSTANT(math_pi, 3.141592653589793)
MATH_CONSTANT(math_sqrt1_2, 0.7071067811865476)
MATH_CONSTANT(math_sqrt2, 1.4142135623730951)

static const FlowNativeEntry math_members[] = {
    NATIVE_MAGIC("abs", math_unary, 1, MATH_ABS),
    NATIVE_MAGIC("acos", math_unary, 1, MATH_ACOS),
    NATIVE_MAGIC("acosh", math_unary, 1, MATH_ACOSH),
    NATIVE_MAGIC("asin", math_unary, 1, MATH_ASIN),
    NATIVE_MAGIC("asinh", math_unary, 1, MATH_ASINH),
    NATIVE_MAGIC("atan", math_unary, 1, MATH_ATAN),
    NATIVE_MAGIC("atanh", math_unary, 1, MATH_ATANH),
    NATIVE("atan2", math_atan2, 2),
    NATIVE_MAGIC("ceil", math_unary, 1, MATH_CEIL),
    NATIVE_MAGIC("cbrt", math_unary, 1, MATH_CBRT),
    NATIVE_MAGIC("expm1", math_unary, 1, MATH_EXPM1),
    NATIVE("clz32", math_clz32, 1),
    NATIVE_MAGIC("cos", math_unary, 1, MATH_COS),
    NATIVE_MAGIC("cosh", math_unary, 1, MATH_COSH),
    NATIVE_MAGIC("exp", math_unary, 1, MATH_EXP),
    NATIVE_MAGIC("floor", math_unary, 1, MATH_FLOOR),
    NATIVE_MAGIC("fround", math_unary, 1, MATH_FROUND),
    NATIVE("hypot", math_hypot, 2),
    NATIVE("imul", math_imul, 2),
    NATIVE_MAGIC("log", math_unary, 1, MATH_LOG),
    NATIVE_MAGIC("log1p", math_unary, 1, MATH_LOG1P),
    NATIVE_MAGIC("log2", math_unary, 1, MATH_LOG2),
    NATIVE_MAGIC("log10", math_unary, 1, MATH_LOG10),
    NATIVE_MAGIC("max", math_extreme, 2, 1),
    NATIVE_MAGIC("min", math_extreme, 2, 0),
    NATIVE("pow", math_pow, 2),
    NATIVE("random", math_random, 0),
    NATIVE_MAGIC("round", math_unary, 1, MATH_ROUND),
    NATIVE_MAGIC("sign", math_unary, 1, MATH_SIGN),
    NATIVE_MAGIC("sin", math_unary, 1, MATH_SIN),
    NATIVE_MAGIC("sinh", math_unary, 1, MATH_SINH),
    NATIVE_MAGIC("sqrt", math_unary, 1, MATH_SQRT),
    NATIVE_MAGIC("tan", math_unary, 1, MATH_TAN),
    NATIVE_MAGIC("tanh", math_unary, 1, MATH_TANH),
    NATIVE_MAGIC("trunc", math_unary, 1, MATH_TRUNC),
    CONSTANT("E", math_e),
    CONSTANT("LN10", math_ln10),
    CONSTANT("LN2", math_ln2),
    CONSTANT("LOG10E", math_log10e),
    CONSTANT("LOG2E", math_log2e),
    CONSTANT("PI", math_pi),
    CONSTANT("SQRT1_2", math_sqrt1_2),
    CONSTANT("SQRT2", math_sqrt2),
    NATIVE_END,
};

const FlowClassEntry flow_class_math = {
    .name = "Math",
    .statics = math_members,
    .tag = "Math",
    .kind = KIND_OBJECT,
};
