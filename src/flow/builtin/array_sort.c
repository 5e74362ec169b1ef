// Sorting without running script code: by text, the order of sort() without a comparator, and by
// number, when the comparator is just `(a, b) => a - b` or its opposite, which cannot be told from
// calling it. Both are stable merge sorts over pairs. All other comparators are the prelude's.
//
// Short texts (integers above all) are most of what is sorted by text, so each pair carries the
// first four units as a number; only equal prefixes look at the strings.
#include "base/memory.h"
#include "flow/builtin/array_internal.h"
#include "flow/code/opcodes.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"

typedef struct SortItem {
    FlowString *text; // flat
    uint64_t prefix;  // the first four units, high ones first
    FlowValue value;
} SortItem;

enum { SORT_INSERTION_MAX = 12 };

static uint64_t prefix_of(const FlowString *flat) {
    uint64_t prefix = 0;
    uint32_t length = flow_string_length(flat);
    for (uint32_t i = 0; i < 4; i++) {
        prefix = prefix << 16 | (i < length ? flow_string_at(flat, i) : 0);
    }
    return prefix;
}

static bool is_before(FlowVm *vm, const SortItem *a, const SortItem *b) {
    if (a->prefix != b->prefix) return a->prefix < b->prefix;
    return flow_string_compare(vm, a->text, b->text) < 0;
}

// False, here and below: comparing takes too long for a native, the items are in no order.
static bool insertion_sort(FlowVm *vm, SortItem *items, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        if (flow_native_is_overdrawn(vm)) return false;
        SortItem item = items[i];
        uint32_t at = i;
        while (at > 0 && is_before(vm, &item, &items[at - 1])) {
            items[at] = items[at - 1];
            at--;
        }
        items[at] = item;
    }
    return true;
}

// Merges items[0, middle) and items[middle, count); `spare` has room for the first of them.
static bool merge(FlowVm *vm, SortItem *items, uint32_t middle, uint32_t count, SortItem *spare) {
    if (!is_before(vm, &items[middle], &items[middle - 1])) return true; // already in order
    memcpy(spare, items, middle * sizeof *items);
    uint32_t left = 0;
    uint32_t right = middle;
    uint32_t out = 0;
    while (left < middle && right < count) {
        if (flow_native_is_overdrawn(vm)) return false;
        bool is_right = is_before(vm, &items[right], &spare[left]);
        items[out++] = is_right ? items[right++] : spare[left++];
    }
    memcpy(items + out, spare + left, (middle - left) * sizeof *items);
    return true;
}

// Bottom up: runs of SORT_INSERTION_MAX, then ever longer ones.
static bool sort_items(FlowVm *vm, SortItem *items, uint32_t count) {
    bool is_done = true;
    for (uint32_t i = 0; i < count && is_done; i += SORT_INSERTION_MAX) {
        uint32_t rest = count - i;
        is_done =
            insertion_sort(vm, items + i, rest < SORT_INSERTION_MAX ? rest : SORT_INSERTION_MAX);
    }
    if (count <= SORT_INSERTION_MAX) return is_done;
    SortItem *spare = mem_alloc(count * sizeof *spare);
    for (uint64_t width = SORT_INSERTION_MAX; width < count && is_done; width *= 2) {
        for (uint64_t i = 0; i + width < count && is_done; i += 2 * width) {
            uint64_t end = i + 2 * width < count ? i + 2 * width : count;
            is_done = merge(vm, items + i, (uint32_t)width, (uint32_t)(end - i), spare);
        }
    }
    mem_free(spare);
    return is_done;
}

static SortItem sort_item(FlowVm *vm, FlowValue text, FlowValue value) {
    FlowString *s = flow_is_string(text) ? flow_as_string(text) : flow_to_string(vm, text);
    FlowString *flat = flow_string_flat(vm, s);
    return (SortItem){flat, prefix_of(flat), value};
}

static void charge_sort(FlowVm *vm, uint32_t count) {
    uint64_t rounds = 1;
    for (uint32_t n = count; n > 1; n /= 2) rounds++;
    flow_native_charge(vm, rounds * count * 8);
}

// Sorting takes memory outside of the heap, which must not outgrow its budget.
static FlowNativeResult sort_room(FlowVm *vm, FlowNativeCall *call, uint32_t count) {
    size_t bytes = 2 * sizeof(SortItem) * (size_t)count;
    return flow_heap_has_room(&vm->heap, bytes) ? NATIVE_OK : flow_native_room(vm, call, bytes);
}

FlowNativeResult flow_array_sort_by_keys(FlowVm *vm, FlowNativeCall *call) {
    FlowArray *list = flow_as_array(flow_argument(call, 0));
    const FlowArray *keys = flow_as_array(flow_argument(call, 1));
    uint32_t count = list->length;
    ASSERT(keys->length == count && flow_array_count(list) == count);
    if (count < 2) return flow_native_return(call, FLOW_TRUE);
    FlowNativeResult room = sort_room(vm, call, count);
    if (room != NATIVE_OK) return room;
    SortItem *items = mem_alloc(count * sizeof *items);
    bool is_done = true;
    for (uint32_t i = 0; i < count && is_done; i++) {
        items[i] = sort_item(vm, flow_array_at(keys, i), flow_array_at(list, i));
        is_done = !flow_native_is_overdrawn(vm); // flat keys take room
    }
    is_done = is_done && sort_items(vm, items, count);
    for (uint32_t i = 0; i < count && is_done; i++) flow_array_values(list)[i] = items[i].value;
    mem_free(items);
    charge_sort(vm, count);
    return flow_native_return(call, flow_bool(is_done));
}

// Every element has a text that needs no script code and little room.
static bool is_sortable(const FlowArray *array) {
    for (uint32_t i = 0; i < flow_array_count(array); i++) {
        FlowValue value = flow_array_at(array, i);
        if (flow_is_object(value) || flow_is_symbol(value) || flow_is_bigint(value)) return false;
    }
    return true;
}

// Sorts the elements of `from` into `to` (which may be the same storage): first the values, then
// undefined. Holes are dropped; the answer is the number of elements. SORT_GIVEN_UP: nothing has
// changed, comparing takes too long.
enum { SORT_GIVEN_UP = UINT32_MAX };

static uint32_t sort_values(FlowVm *vm, const FlowArray *from, FlowValue *to) {
    uint32_t count = flow_array_count(from);
    SortItem *items = mem_alloc((count ? count : 1) * sizeof *items);
    uint32_t used = 0;
    uint32_t undefined_count = 0;
    bool is_done = true;
    for (uint32_t i = 0; i < count && is_done; i++) {
        FlowValue value = flow_array_at(from, i);
        if (flow_is_undefined(value)) undefined_count++;
        else if (!flow_is_hole(value)) items[used++] = sort_item(vm, value, value);
        is_done = !flow_native_is_overdrawn(vm); // flat strings take room
    }
    is_done = is_done && sort_items(vm, items, used);
    charge_sort(vm, count);
    if (!is_done) {
        mem_free(items);
        return SORT_GIVEN_UP;
    }
    for (uint32_t i = 0; i < used; i++) to[i] = items[i].value;
    for (uint32_t i = 0; i < undefined_count; i++) to[used + i] = FLOW_UNDEFINED;
    mem_free(items);
    return used + undefined_count;
}

// --- (a, b) => a - b

// Which way a comparator sorts numbers, when it is nothing but a difference of its parameters.
typedef enum NumericOrder { ORDER_UNKNOWN, ORDER_ASCENDING, ORDER_DESCENDING } NumericOrder;

static NumericOrder numeric_order(FlowValue comparator) {
    if (!flow_is_kind(comparator, KIND_CLOSURE)) return ORDER_UNKNOWN;
    const FlowRoutine *routine = ((const FlowClosure *)flow_as_pointer(comparator))->routine;
    uint32_t special = ROUTINE_ASYNC | ROUTINE_GENERATOR | ROUTINE_CONSTRUCTOR | ROUTINE_HAS_REST;
    bool fits = routine->code_count >= 2 && routine->parameter_count == 2 &&
                !(routine->flags & special) && routine->code[0].op == OP_SUB &&
                routine->code[1].op == OP_RETURN && routine->code[0].a == routine->code[1].a;
    if (!fits) return ORDER_UNKNOWN;
    FlowInstruction sub = routine->code[0];
    if (sub.b == 1 && sub.c == 2) return ORDER_ASCENDING;
    return sub.b == 2 && sub.c == 1 ? ORDER_DESCENDING : ORDER_UNKNOWN;
}

// The difference orders such arrays completely: numbers that are not NaN, then undefined.
static bool is_numeric(const FlowArray *array) {
    for (uint32_t i = 0; i < flow_array_count(array); i++) {
        FlowValue value = flow_array_at(array, i);
        if (flow_is_number(value) ? flow_is_double(value) && isnan(flow_as_double(value))
                                  : !flow_is_undefined(value) && !flow_is_hole(value)) {
            return false;
        }
    }
    return true;
}

typedef struct NumberItem {
    double number; // negated for descending order
    FlowValue value;
} NumberItem;

static void sort_number_run(NumberItem *items, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        NumberItem item = items[i];
        uint32_t at = i;
        for (; at > 0 && item.number < items[at - 1].number; at--) items[at] = items[at - 1];
        items[at] = item;
    }
}

static void merge_numbers(NumberItem *items, uint32_t middle, uint32_t count, NumberItem *spare) {
    if (!(items[middle].number < items[middle - 1].number)) return;
    memcpy(spare, items, middle * sizeof *items);
    uint32_t left = 0;
    uint32_t right = middle;
    uint32_t out = 0;
    while (left < middle && right < count) {
        bool is_right = items[right].number < spare[left].number;
        items[out++] = is_right ? items[right++] : spare[left++];
    }
    memcpy(items + out, spare + left, (middle - left) * sizeof *items);
}

static void sort_number_items(NumberItem *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i += SORT_INSERTION_MAX) {
        uint32_t rest = count - i;
        sort_number_run(items + i, rest < SORT_INSERTION_MAX ? rest : SORT_INSERTION_MAX);
    }
    NumberItem *spare = mem_alloc((count ? count : 1) * sizeof *spare);
    for (uint64_t width = SORT_INSERTION_MAX; width < count; width *= 2) {
        for (uint64_t i = 0; i + width < count; i += 2 * width) {
            uint64_t end = i + 2 * width < count ? i + 2 * width : count;
            merge_numbers(items + i, (uint32_t)width, (uint32_t)(end - i), spare);
        }
    }
    mem_free(spare);
}

// As sort_values, by number.
static uint32_t sort_numbers(FlowVm *vm, const FlowArray *from, FlowValue *to, NumericOrder order) {
    uint32_t count = flow_array_count(from);
    NumberItem *items = mem_alloc((count ? count : 1) * sizeof *items);
    uint32_t used = 0;
    uint32_t undefined_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        FlowValue value = flow_array_at(from, i);
        if (flow_is_undefined(value)) undefined_count++;
        if (!flow_is_number(value)) continue;
        double number = flow_as_number(value);
        items[used++] = (NumberItem){order == ORDER_ASCENDING ? number : -number, value};
    }
    sort_number_items(items, used);
    for (uint32_t i = 0; i < used; i++) to[i] = items[i].value;
    for (uint32_t i = 0; i < undefined_count; i++) to[used + i] = FLOW_UNDEFINED;
    mem_free(items);
    charge_sort(vm, count);
    return used + undefined_count;
}

// --- the methods

// How the elements can be sorted here; false: the prelude has to do it.
static bool sort_here(const FlowArray *array, FlowValue comparator, NumericOrder *ret_order) {
    *ret_order = ORDER_UNKNOWN;
    if (flow_is_undefined(comparator)) return is_sortable(array);
    *ret_order = numeric_order(comparator);
    return *ret_order != ORDER_UNKNOWN && is_numeric(array);
}

static uint32_t sort_into(FlowVm *vm, const FlowArray *from, FlowValue *to, NumericOrder order) {
    return order == ORDER_UNKNOWN ? sort_values(vm, from, to) : sort_numbers(vm, from, to, order);
}

FlowNativeResult flow_array_sort(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    NumericOrder order;
    bool is_fast = flow_array_is_open(vm, self) &&
                   sort_here(flow_as_array(self), flow_argument(call, 0), &order);
    if (!is_fast) return flow_native_slow(vm, call);
    FlowArray *array = flow_as_array(self);
    TRY_NATIVE(sort_room(vm, call, flow_array_count(array)));
    FlowStorage *storage = flow_dense(&array->object);
    uint32_t used = storage ? sort_into(vm, array, storage->values, order) : 0;
    if (used == SORT_GIVEN_UP) return flow_native_slow(vm, call);
    if (storage) storage->count = used;
    return flow_native_return(call, self);
}

FlowNativeResult flow_array_to_sorted(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    NumericOrder order;
    bool is_fast = flow_array_is_plain(vm, self) &&
                   sort_here(flow_as_array(self), flow_argument(call, 0), &order);
    if (!is_fast) return flow_native_slow(vm, call);
    const FlowArray *array = flow_as_array(self);
    TRY_NATIVE(flow_array_room(vm, call, array->length));
    TRY_NATIVE(sort_room(vm, call, flow_array_count(array)));
    FlowArray *result = flow_array_make(vm, array->length);
    uint32_t used = array->length ? sort_into(vm, array, flow_array_values(result), order) : 0;
    if (used == SORT_GIVEN_UP) return flow_native_slow(vm, call);
    for (uint32_t i = used; i < result->length; i++) {
        flow_array_values(result)[i] = FLOW_UNDEFINED;
    }
    return flow_native_return(call, flow_from_object(result));
}
