// Intrinsic types: what each intrinsic may be called with.
//
// Intrinsics trust the prelude, which checks before it calls. A VM that was read from a snapshot
// taken inside prelude code has registers that came from outside, so there (and only there:
// vm->checks_intrinsics) each call is held to this table. A call that does not fit is
// a script error.
//
//   [intrinsic-types-1] Every intrinsic is listed (a test sees to it); one that is not accepts
//        nothing.
//   [intrinsic-types-2] No argument is HOLE or a cell.
#include "base/array.h"
#include "base/containers/map.h"
#include "flow/code/opcodes.h"
#include "flow/value/object_layout.h"
#include "flow/value/table.h"
#include "flow/vm/vm.h"
#include <pthread.h>

// One letter per argument; further ones are as 'v'.
//   v anything  o object  a array  f function  F function or undefined  p promise  k key, no object
//   s string  S string or undefined  n number  w number from 0 to 2^53  Y the same or undefined
//   z number but NaN  Z moment in ms or undefined  d number from 0 to 100 or undefined  i int
//   m Map or Set  r RegExp  t built-in iterator  c combinator's holder  h async-from-sync iterator
//   x what cloneSlots copies  X boxed primitive  A U C arithmetic, unary, comparison opcode
//   K combinator kind  W await kind  E effect kind  L date style  q 0 to 3
typedef struct IntrinsicType {
    const char *name;
    const char *types;
} IntrinsicType;

static const IntrinsicType types[] = {
    {"arithmetic", "Avv"},
    {"unaryOperation", "Uv"},
    {"comparison", "Cvv"},
    {"isAddition", "i"},
    {"toNumeric", "v"},
    {"primitiveToString", "v"},
    {"symbolToPrimitive", ""},
    {"symbolIterator", ""},
    {"symbolAsyncIterator", ""},
    {"symbolHasInstance", ""},
    {"symbolSpecies", ""},
    {"protoOf", "o"},
    {"boundTarget", "v"},
    {"allKeys", "o"},
    {"isOwnEnumerable", "ok"},
    {"defineData", "okv"},
    {"arrayAppend", "av"},
    // promises
    {"promiseNew", ""},
    {"promiseReject", "pv"},
    {"promiseResolve", "pv"},
    {"promiseOf", "v"},
    {"promiseConstructor", ""},
    {"isPromise", "v"},
    {"hasPlainThen", "v"},
    {"performThen", "pvvvFF"},
    {"combinator", "KoFF"},
    {"combinatorReact", "cpiv"},
    {"combinatorFunctions", "civ"},
    {"combinatorClose", "c"},
    {"fromSync", "ov"},
    {"fromSyncIterator", "h"},
    {"fromSyncMethod", "h"},
    {"fromSyncReact", "ppv"},
    // the host
    {"hostStart", "WSSSZZZS"},
    {"secretNew", "SS"},
    {"secretPlaces", "v"},
    {"hostStartRun", "WSSSZZZ"},
    {"hostEffect", "ESS"},
    {"hostStateGet", "S"},
    {"hostLooks", ""},
    {"hostCheck", "qSv"},
    {"hostLook", ""},
    {"hostContinueAs", "v"},
    {"durationMs", "v"},
    {"instantMs", "S"},
    // objects
    {"isObject", "v"},
    {"isCallable", "v"},
    {"isConstructor", "v"},
    {"isArray", "v"},
    {"toObject", "vv"},
    {"length", "n"},
    {"integer", "n"},
    {"relative", "nw"},
    {"typeError", "s"},
    {"rangeError", "s"},
    {"notCallable", "v"},
    {"notIterable", "v"},
    {"describe", "v"},
    {"symbolIsConcatSpreadable", ""},
    {"symbolToStringTag", ""},
    {"builtinTag", "v"},
    {"ownKeys", "o"},
    {"enumerableKeys", "o"},
    {"isEnumerable", "ok"},
    {"hide", "okv"},
    {"bareObject", ""},
    {"tryPut", "okv"},
    {"tryDelete", "ok"},
    {"hasOwn", "vv"},
    {"defineProperty", "vvv"},
    // arrays and collections
    {"newArray", "w"},
    {"newArrayLike", "vw"},
    {"newPlainArray", "vw"},
    {"hasPlainSpecies", "v"},
    {"iteratesPlainly", "vv"},
    {"put", "okv"},
    {"lastHole", "oww"},
    {"isJoining", ""},
    {"sortByKeys", "aa"},
    {"iteratorTarget", "t"},
    {"iteratorPosition", "t"},
    {"iteratorKind", "t"},
    {"iteratorMove", "tY"},
    {"collectionCheck", "vvv"},
    {"collectionNext", "mw"},
    {"collectionKey", "mw"},
    {"collectionValue", "mw"},
    {"collectionPut", "mvv"},
    // JSON, functions, clones
    {"dataStringify", "vvv"},
    {"isError", "v"},
    {"jsonQuote", "s"},
    {"boxedKind", "v"},
    {"boxedValue", "X"},
    {"constructorName", "o"},
    {"bind", "fv"},
    {"cloneKind", "v"},
    {"cloneSlots", "x"},
    {"cloneCollection", "v"},
    {"cloneMemory", ""},
    {"cloneFind", "mv"},
    {"cloneError", "ov"},
    {"cloneRefuse", "v"},
    // strings, numbers, dates, regular expressions
    {"stringFind", "ssw"},
    {"stringPart", "szz"},
    {"advanceIndex", "sw"},
    {"localeCompare", "ssi"},
    {"numberLocale", "nddv"},
    {"thisNumber", "v"},
    {"dateLocale", "vL"},
    {"regexpExecAt", "rsw"},
    {"regexpCreate", "ssv"},
    {"isRegExpObject", "v"},
    {"isPristineRegExp", "v"},
    {"regExpConstructor", ""},
    {"regexpSource", "r"},
    {"regexpFlags", "r"},
    {"symbolMatch", ""},
    {"symbolMatchAll", ""},
    {"symbolReplace", ""},
    {"symbolSearch", ""},
    {"symbolSplit", ""},
    {"regexpMatches", "rs"},
    {"regexpStringIterator", "osvv"},
    {"regexpIteratorState", "vq"},
    {"regexpIteratorEnd", "v"},
};

static Map by_entry; // FlowNativeEntry -> IntrinsicType; only entries that are listed
static Map known;    // every intrinsic entry

static void table_make(void) {
    map_init(&by_entry);
    map_init(&known);
    const FlowNativeEntry *entry;
    for (uint32_t id = 0; (entry = flow_intrinsic(id)); id++) {
        uint64_t key = (uint64_t)(uintptr_t)entry;
        map_put(&known, key, (void *)(uintptr_t)entry);
        for (size_t i = 0; i < COUNT_OF(types); i++) {
            if (strcmp(types[i].name, entry->name) != 0) continue;
            map_put(&by_entry, key, (void *)(uintptr_t)&types[i]);
        }
    }
}

static void table_init(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, table_make);
}

bool flow_intrinsic_is_typed(const FlowNativeEntry *entry) {
    table_init();
    return map_get(&by_entry, (uint64_t)(uintptr_t)entry);
}

// --- single arguments

static bool is_between(FlowValue value, double low, double high) {
    return flow_is_number(value) && flow_as_number(value) >= low && flow_as_number(value) <= high;
}

static bool is_own(FlowValue value, FlowKind kind) { // and not the realm's
    return flow_is_kind(value, kind) && !(flow_as_cell(value)->flags & CELL_SHARED);
}

static bool is_boxed(FlowValue value, FlowKind last) {
    return flow_is_object(value) && flow_kind_of(value) >= KIND_BOOLEAN_OBJECT &&
           flow_kind_of(value) <= last && flow_kind_of(value) != KIND_SYMBOL_OBJECT;
}

// Hidden state in a KIND_HOST_OBJECT: a combinator, or an iterator and its method.
static bool is_holder(FlowValue value, bool has_combinator) {
    if (!is_own(value, KIND_HOST_OBJECT)) return false;
    FlowValue first = ((const FlowSlotObject *)flow_as_pointer(value))->internal[0];
    return flow_is_cell(first) == has_combinator;
}

static bool is_opcode(char type, FlowValue value) {
    if (!flow_is_int(value)) return false;
    int32_t op = flow_as_int(value);
    switch (type) {
    case 'A': return op >= OP_ADD && op <= OP_USHR;
    case 'U': return (op >= OP_NEGATE && op <= OP_DECREMENT) || op == OP_BIT_NOT;
    default: return op >= OP_LT && op <= OP_GE;
    }
}

static bool fits_kind(char type, FlowValue value) {
    switch (type) {
    case 'o': return flow_is_object(value);
    case 'a': return is_own(value, KIND_ARRAY);
    case 'f': return flow_is_callable(value);
    case 'F': return flow_is_callable(value) || flow_is_undefined(value);
    case 'p': return is_own(value, KIND_PROMISE);
    case 'k': return !flow_is_object(value);
    case 's': return flow_is_string(value);
    case 'S': return flow_is_string(value) || flow_is_undefined(value);
    case 'm': return is_own(value, KIND_MAP) || is_own(value, KIND_SET);
    case 'r': return is_own(value, KIND_REGEXP);
    case 't': return is_own(value, KIND_ITERATOR);
    case 'c': return is_holder(value, true);
    case 'h': return is_holder(value, false);
    case 'x': return is_boxed(value, KIND_REGEXP);
    case 'X': return is_boxed(value, KIND_BIGINT_OBJECT);
    default: return true;
    }
}

static bool fits(char type, FlowValue value) {
    switch (type) {
    case 'i': return flow_is_int(value);
    case 'n': return flow_is_number(value);
    case 'z': return flow_is_number(value) && !isnan(flow_as_number(value));
    case 'Y': return flow_is_undefined(value) || is_between(value, 0, 9007199254740992.0);
    case 'w': return is_between(value, 0, 9007199254740992.0);
    case 'Z': return flow_is_undefined(value) || is_between(value, -8.64e15, 8.64e15);
    case 'd': return flow_is_undefined(value) || is_between(value, 0, 100);
    case 'K': return flow_is_int(value) && is_between(value, 0, COMBINATOR_TASK_RACE);
    case 'W': return flow_is_int(value) && is_between(value, 1, FLOW_AWAIT_WORKFLOW);
    case 'E': return flow_is_int(value) && is_between(value, 0, FLOW_EFFECT_LOG);
    case 'L': return flow_is_int(value) && is_between(value, 5, 7);
    case 'q': return flow_is_int(value) && is_between(value, 0, 3);
    case 'A':
    case 'U':
    case 'C': return is_opcode(type, value);
    default: return fits_kind(type, value);
    }
}

// --- arguments that must fit each other

static bool is_dense_of(FlowValue value, uint32_t count) {
    const FlowArray *array = flow_as_array(value);
    const FlowStorage *dense = flow_dense(&array->object);
    if (array->length != count || (dense ? dense->count : 0) != count) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (flow_is_hole(dense->values[i])) return false;
    }
    return true;
}

static bool can_sort(const FlowNativeCall *call) {
    uint32_t count = flow_as_array(flow_argument(call, 0))->length;
    if (!is_dense_of(flow_argument(call, 0), count)) return false;
    if (!is_dense_of(flow_argument(call, 1), count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        FlowValue key = flow_dense(&flow_as_array(flow_argument(call, 1))->object)->values[i];
        if (flow_is_object(key) || flow_is_symbol(key)) return false;
    }
    return true;
}

static bool has_entry(const FlowNativeCall *call) {
    const FlowSlotObject *collection = flow_as_pointer(flow_argument(call, 0));
    double from = flow_as_number(flow_argument(call, 1));
    uint32_t holes;
    return from <= UINT32_MAX &&
           flow_table_next(flow_as_pointer(collection->internal[0]), (uint32_t)from, &holes);
}

// Without both functions there must be a promise of ours, or (then) nothing at all.
static bool can_settle(const FlowNativeCall *call, uint32_t promise, uint32_t functions,
                       bool or_nothing) {
    bool has_both = !flow_is_undefined(flow_argument(call, functions)) &&
                    !flow_is_undefined(flow_argument(call, functions + 1));
    FlowValue value = flow_argument(call, promise);
    return has_both || is_own(value, KIND_PROMISE) || (or_nothing && flow_is_undefined(value));
}

static bool fits_together(const char *name, const FlowNativeCall *call) {
    if (strcmp(name, "sortByKeys") == 0) return can_sort(call);
    if (strcmp(name, "collectionKey") == 0 || strcmp(name, "collectionValue") == 0) {
        return has_entry(call);
    }
    if (strcmp(name, "collectionNext") == 0) {
        return flow_as_number(flow_argument(call, 1)) <= UINT32_MAX;
    }
    if (strcmp(name, "performThen") == 0) return can_settle(call, 3, 4, true);
    if (strcmp(name, "combinator") == 0) return can_settle(call, 1, 2, false);
    return true;
}

bool flow_intrinsic_accepts(const FlowNativeEntry *entry, const FlowNativeCall *call) {
    table_init();
    uint64_t key = (uint64_t)(uintptr_t)entry;
    const IntrinsicType *type = map_get(&by_entry, key);
    if (!type) return !map_get(&known, key);     // [intrinsic-types-1]
    for (uint32_t i = 0; i < call->count; i++) { // [intrinsic-types-2]
        FlowValue value = call->arguments[i];
        if (flow_is_hole(value) || flow_is_cell(value)) return false;
    }
    for (uint32_t i = 0; type->types[i]; i++) {
        if (!fits(type->types[i], flow_argument(call, i))) return false;
    }
    return fits_together(type->name, call);
}
