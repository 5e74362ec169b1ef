// The built-ins around primitive values, Date and RegExp: their tables, and what they share.
//
// realm/tables.c names the tables. Entry lists end with NATIVE_END.
#pragma once
#include "flow/realm/realm.h"
#include "flow/vm/native.h"

// TRY for natives: what is not NATIVE_OK is the native's own answer.
#define TRY_NATIVE(expression)                                                                     \
    do {                                                                                           \
        FlowNativeResult try_result_ = (expression);                                               \
        if (try_result_ != NATIVE_OK) return try_result_;                                          \
    } while (0)

extern const FlowClassEntry flow_class_string;
extern const FlowClassEntry flow_class_string_iterator;
FlowNativeResult flow_string_iterator_next(FlowVm *vm, FlowNativeCall *call);
// The next character (code point) of a string iterator; false at the end.
bool flow_string_iterator_advance(FlowVm *vm, FlowSlotObject *iterator, FlowValue *ret_item);
extern const FlowClassEntry flow_class_number;
extern const FlowClassEntry flow_class_math;
extern const FlowClassEntry flow_class_boolean;
extern const FlowClassEntry flow_class_symbol;
extern const FlowClassEntry flow_class_bigint;
extern const FlowClassEntry flow_class_date;
extern const FlowClassEntry flow_class_regexp;
extern const FlowClassEntry flow_class_regexp_string_iterator;

extern const FlowNativeEntry flow_globals_number[];
extern const FlowNativeEntry flow_globals_uri[];
extern const FlowNativeEntry flow_globals_base64[];

extern const FlowNativeEntry flow_intrinsics_string[];
extern const FlowNativeEntry flow_intrinsics_number[];
extern const FlowNativeEntry flow_intrinsics_date[];
extern const FlowNativeEntry flow_intrinsics_regexp[];

// --- shared by them (builtin/primitives.c)
// What `new_target.prototype` is for instances, or the realm's own when it is no object.
FlowObject *flow_constructor_prototype(FlowVm *vm, const FlowNativeCall *call, FlowProtoId id);
// The primitive in `this`: the value itself when `is_kind` of it holds, or what a wrapper object
// of `kind` holds. HOLE when it is neither.
FlowValue flow_this_primitive(const FlowNativeCall *call, bool (*is_type)(FlowValue),
                              FlowKind kind);
// A wrapper object (new Number(5)).
FlowNativeResult flow_native_wrap(FlowVm *vm, FlowNativeCall *call, FlowKind kind, FlowProtoId id,
                                  FlowValue primitive);
// Takes `work` elementary steps out of the turn's fuel, so that long natives are paid for.
void flow_native_charge(FlowVm *vm, uint64_t work);
// Whether the call has used much more time than a turn has, or more memory than the run has. What
// visits many values, each of which may be long, asks after each and leaves the work to its prelude
// routine then, which can be stopped and collected in between.
bool flow_native_is_overdrawn(const FlowVm *vm);
// The prelude routine of that name, to be called by NATIVE_CALL.
FlowValue flow_prelude_function(FlowVm *vm, const char *name);
// Ends the native by a call of a prelude routine with these arguments and undefined as `this`.
FlowNativeResult flow_native_prelude(FlowVm *vm, FlowNativeCall *call, const char *name,
                                     const FlowValue *arguments, uint32_t count);

// --- BigInt beyond operators.h
double flow_bigint_to_number(const FlowBigInt *value);

// --- numbers as text (number/number_format.c)
typedef struct FlowNumberLocale { // toLocaleString in the style of en-US
    uint32_t minimum_fraction;
    uint32_t maximum_fraction;
    bool has_grouping;
} FlowNumberLocale;
FlowString *flow_number_to_radix(FlowVm *vm, double value, uint32_t radix);
FlowString *flow_number_to_fixed(FlowVm *vm, double value, uint32_t fraction_digits);
// fraction_digits < 0: as many as needed.
FlowString *flow_number_to_exponential(FlowVm *vm, double value, int fraction_digits);
FlowString *flow_number_to_precision(FlowVm *vm, double value, uint32_t precision);
FlowString *flow_number_to_locale(FlowVm *vm, double value, const FlowNumberLocale *locale);
