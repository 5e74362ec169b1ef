// RegExp objects: making them, exec, and what scripts can ask of them.
//
//   [regexp-1] lastIndex changes only when the rest has succeeded: a native may be called again.
//   [regexp-2] The compiled pattern is a cache. Whoever needs it goes through pattern_of(), which
//        makes it again after a snapshot.
// Not here: the methods that go through a whole string (regexp/methods.c), and what may run
// script code (prelude/regexp.js).
#include "flow/regexp/regexp.h"
#include "base/memory.h"
#include "flow/builtin/objects.h"
#include "flow/builtin/text/string.h"
#include "flow/regexp/compile.h"
#include "flow/vm/vm.h"

enum {
    MATCH_MEMORY_MAX = 32 << 20,
    SHOWN_MAX = 120,    // units of a pattern in a message
    MATCH_FUEL = 32,    // what the smallest match costs
    SEARCH_MATCHES = 8, // a search has the steps of so many matches
};

// --- units of strings

// The units of a flat string as UTF-16: in place when wide, else a copy the caller frees.
static const uint16_t *wide_units(const FlowString *flat, uint16_t **ret_copy) {
    *ret_copy = NULL;
    if (flow_string_is_wide(flat)) return flat->wide;
    uint32_t length = flow_string_length(flat);
    uint16_t *copy = mem_alloc(sizeof(uint16_t) * ((size_t)length + 1));
    for (uint32_t i = 0; i < length; i++) copy[i] = flat->latin1[i];
    *ret_copy = copy;
    return copy;
}

static void throw_syntax(FlowVm *vm, FlowString *source, FlowString *flags, const char *message) {
    Buf text;
    buf_init(&text, 1 << 12);
    buf_append_cstr(&text, "Invalid regular expression: /");
    uint32_t length = flow_string_length(source);
    if (length > SHOWN_MAX) source = flow_string_substring(vm, source, 0, SHOWN_MAX);
    flow_string_to_utf8(vm, source, &text);
    if (length > SHOWN_MAX) buf_append_cstr(&text, "...");
    buf_append_char(&text, '/');
    flow_string_to_utf8(vm, flags, &text);
    buf_printf(&text, ": %s", message);
    flow_throw_error(vm, ERROR_KIND_SYNTAX, "%s", buf_cstr(&text));
    buf_done(&text);
}

static bool read_flags(FlowVm *vm, FlowString *flags, uint32_t *ret_bits) {
    uint16_t *copy;
    const uint16_t *units = wide_units(flags, &copy);
    bool is_fine = regexp_parse_flags(units, flow_string_length(flags), ret_bits);
    mem_free(copy);
    if (is_fine) return true;
    Buf text;
    buf_init(&text, 256);
    flow_string_to_utf8(vm, flags, &text);
    flow_throw_error(vm, ERROR_KIND_SYNTAX, "Invalid flags supplied to RegExp constructor '%s'",
                     buf_cstr(&text));
    buf_done(&text);
    return false;
}

// --- making

// A step of an engine costs about half of what an instruction costs.
static void charge_steps(FlowVm *vm, uint64_t steps) { flow_native_charge(vm, steps * 8); }

// The compiled pattern as a value; undefined: SyntaxError pending. Its memory counts for the run
// that had it made: patterns from the cache are shared with others, and the cache has a limit.
static FlowValue compile(FlowVm *vm, FlowString *source, FlowString *flags, uint32_t bits) {
    RegexpMade made;
    uint16_t *copy;
    const uint16_t *units = wide_units(source, &copy);
    RegexpPattern *pattern = regexp_pattern_get(units, flow_string_length(source), bits, &made);
    mem_free(copy);
    charge_steps(vm, made.work);
    if (!pattern) {
        throw_syntax(vm, source, flags, made.message);
        return FLOW_UNDEFINED;
    }
    FlowBytes *bytes = flow_heap_alloc(&vm->heap, KIND_BYTES, sizeof *bytes);
    bytes->data = pattern;
    bytes->release = regexp_pattern_release;
    if (made.is_new) bytes->size = pattern->arena.used_size;
    vm->heap.bytes += bytes->size;
    return flow_from_cell(bytes);
}

static FlowObject *regexp_create(FlowVm *vm, FlowString *source, FlowString *flags,
                                 FlowObject *proto) {
    source = flow_string_flat(vm, source);
    flags = flow_string_flat(vm, flags);
    uint32_t bits;
    if (!read_flags(vm, flags, &bits)) return NULL;
    FlowValue pattern = compile(vm, source, flags, bits);
    if (flow_is_undefined(pattern)) return NULL;
    FlowSlotObject *regexp = flow_slot_object_new(vm, KIND_REGEXP, proto);
    regexp->internal[0] = flow_from_string(source);
    regexp->internal[1] = flow_from_string(flags);
    regexp->internal[2] = pattern;
    regexp->internal[3] = flow_int((int32_t)bits);
    flow_object_define(vm, &regexp->object, FLOW_KEY(vm, lastIndex), flow_int(0),
                       PROPERTY_WRITABLE);
    return &regexp->object;
}

FlowObject *flow_regexp_new(FlowVm *vm, FlowString *source, FlowString *flags) {
    return regexp_create(vm, source, flags, vm->realm->protos[PROTO_REGEXP]);
}

// --- looking inside

uint32_t flow_regexp_flags(const FlowSlotObject *regexp) {
    if (flow_is_int(regexp->internal[3])) return (uint32_t)flow_as_int(regexp->internal[3]);
    // A clone has the text only. It was accepted once, so it is flat, short and valid.
    const FlowString *text = flow_as_string(regexp->internal[1]);
    uint16_t units[8];
    uint32_t length = flow_string_length(text) < 8 ? flow_string_length(text) : 8;
    for (uint32_t i = 0; i < length; i++) units[i] = flow_string_at(text, i);
    uint32_t flags = 0;
    regexp_parse_flags(units, length, &flags);
    return flags;
}

// The compiled pattern; made again when a snapshot has dropped it. NULL: exception pending, which
// takes a snapshot that was tampered with.
static RegexpPattern *pattern_of(FlowVm *vm, FlowSlotObject *regexp) {
    if (!flow_is_cell(regexp->internal[2])) {
        FlowString *source = flow_string_flat(vm, flow_as_string(regexp->internal[0]));
        FlowString *flags = flow_string_flat(vm, flow_as_string(regexp->internal[1]));
        uint32_t bits;
        if (!read_flags(vm, flags, &bits)) return NULL;
        FlowValue pattern = compile(vm, source, flags, bits);
        if (flow_is_undefined(pattern)) return NULL;
        regexp->internal[2] = pattern;
        regexp->internal[3] = flow_int((int32_t)bits);
    }
    return ((FlowBytes *)flow_as_pointer(regexp->internal[2]))->data;
}

static const RegexpPattern *known_pattern(const FlowSlotObject *regexp) {
    return ((const FlowBytes *)flow_as_pointer(regexp->internal[2]))->data;
}

bool flow_regexp_has_names(const FlowSlotObject *regexp) {
    return known_pattern(regexp)->tree.name_count > 0;
}

uint32_t flow_regexp_name(const void *regexp, const FlowString *text, uint32_t start,
                          uint32_t end) {
    const RegexpTree *tree = &known_pattern(regexp)->tree;
    for (uint32_t i = 0; i < tree->name_count; i++) {
        const RegexpName *name = &tree->names[i];
        uint32_t j = 0;
        if (name->length != end - start) continue;
        while (j < name->length && name->units[j] == flow_string_at(text, start + j)) j++;
        if (j == name->length) return name->capture;
    }
    return 0;
}

static bool is_changed(FlowVm *vm, FlowObject *object) {
    return flow_object_override(vm, object) != object;
}

bool flow_regexp_is_pristine(FlowVm *vm, FlowValue value) {
    if (!flow_is_kind(value, KIND_REGEXP)) return false;
    FlowObject *object = flow_as_object(value);
    FlowObject *proto = vm->realm->protos[PROTO_REGEXP];
    if (object->shape->proto != proto || object->shape->count != 1) return false;
    FlowProperty last_index;
    if (!flow_object_get_own(vm, object, FLOW_KEY(vm, lastIndex), &last_index)) return false;
    if (!(last_index.attributes & PROPERTY_WRITABLE) || !flow_is_number(last_index.value)) {
        return false;
    }
    if (vm->override_count == 0) return true;
    FlowValue constructor = flow_object_get_data(vm, proto, FLOW_KEY(vm, constructor));
    return !is_changed(vm, proto) && flow_is_object(constructor) &&
           !is_changed(vm, flow_as_object(constructor)) &&
           !is_changed(vm, vm->realm->protos[PROTO_OBJECT]);
}

double flow_regexp_last_index(FlowVm *vm, FlowSlotObject *regexp) {
    FlowValue value = flow_object_get_data(vm, &regexp->object, FLOW_KEY(vm, lastIndex));
    double index = flow_to_integer(flow_as_number(value));
    return index <= 0 ? 0 : fmin(index, 9007199254740991.0);
}

bool flow_regexp_set_last_index(FlowVm *vm, FlowSlotObject *regexp, double index) {
    FlowValue setter;
    FlowSetResult result =
        flow_object_set(vm, &regexp->object, FLOW_KEY(vm, lastIndex), flow_number(index), &setter);
    if (result == SET_DONE) return true;
    return flow_throw_type(
        vm, "Cannot assign to read only property 'lastIndex' of object '[object RegExp]'");
}

uint32_t flow_regexp_advance(const FlowString *subject, uint32_t index, bool is_unicode) {
    if (!is_unicode || index + 1 >= flow_string_length(subject)) return index + 1;
    uint16_t high = flow_string_at(subject, index);
    uint16_t low = flow_string_at(subject, index + 1);
    bool is_pair = high >= 0xD800 && high <= 0xDBFF && low >= 0xDC00 && low <= 0xDFFF;
    return index + (is_pair ? 2 : 1);
}

// --- matching

void flow_regexp_found_done(RegexpFound *found) {
    if (found->captures != found->few) mem_free(found->captures);
    found->captures = found->few;
}

RegexpSearch flow_regexp_search(FlowVm *vm, FlowSlotObject *regexp, FlowString *subject) {
    return (RegexpSearch){.vm = vm,
                          .regexp = regexp,
                          .subject = flow_string_flat(vm, subject),
                          .steps = (uint64_t)vm->limits.regexp_steps * SEARCH_MATCHES};
}

static FlowNativeResult out_of_budget(const RegexpSearch *search, RegexpOutcome outcome) {
    if (outcome == REGEXP_OUT_OF_MEMORY) {
        return flow_native_throw(search->vm, ERROR_KIND_RANGE,
                                 "Regular expression took too much memory");
    }
    uint32_t most = search->vm->limits.regexp_steps;
    if (search->steps > 0) {
        return flow_native_throw(search->vm, ERROR_KIND_RANGE,
                                 "Regular expression took more than %u steps to match", most);
    }
    return flow_native_throw(search->vm, ERROR_KIND_RANGE,
                             "Regular expression took more than %llu steps to go through a text",
                             (unsigned long long)most * SEARCH_MATCHES);
}

FlowNativeResult flow_regexp_find(RegexpSearch *search, uint32_t start, RegexpFound *found) {
    FlowVm *vm = search->vm;
    RegexpPattern *pattern = pattern_of(vm, search->regexp);
    if (!pattern) return NATIVE_THROW;
    found->capture_count = pattern->tree.capture_count;
    uint32_t words = 2 * (found->capture_count + 1);
    found->captures = words <= 32 ? found->few : mem_alloc(sizeof(int32_t) * words);
    const FlowString *flat = search->subject;
    bool is_wide = flow_string_is_wide(flat);
    RegexpSubject text = {is_wide ? NULL : flat->latin1, is_wide ? flat->wide : NULL,
                          flow_string_length(flat)};
    uint64_t steps = vm->limits.regexp_steps;
    if (steps > search->steps) steps = search->steps;
    RegexpBudget budget = {steps, MATCH_MEMORY_MAX};
    if (budget.memory_size > vm->heap.limit) budget.memory_size = vm->heap.limit;
    regexp_pay(&budget, 1 + words / 8);
    RegexpOutcome outcome = regexp_pattern_match(pattern, &text, start, &budget, found->captures);
    search->steps -= steps - budget.steps;
    charge_steps(vm, steps - budget.steps);
    vm->fuel -= MATCH_FUEL;
    found->is_found = outcome == REGEXP_MATCH;
    if (outcome == REGEXP_MATCH) return NATIVE_OK;
    flow_regexp_found_done(found);
    return outcome == REGEXP_NO_MATCH ? NATIVE_OK : out_of_budget(search, outcome);
}

// --- results

static FlowValue capture_text(FlowVm *vm, FlowString *subject, const RegexpFound *found,
                              uint32_t number) {
    int32_t start = found->captures[2 * number];
    if (start < 0) return FLOW_UNDEFINED;
    uint32_t end = (uint32_t)found->captures[2 * number + 1];
    return flow_from_string(flow_string_substring(vm, subject, (uint32_t)start, end));
}

static FlowValue capture_range(FlowVm *vm, const RegexpFound *found, uint32_t number) {
    int32_t start = found->captures[2 * number];
    if (start < 0) return FLOW_UNDEFINED;
    FlowValue pair[2] = {flow_int(start), flow_int(found->captures[2 * number + 1])};
    return flow_from_object(flow_array_from(vm, pair, 2));
}

static FlowValue named_values(FlowVm *vm, const FlowSlotObject *regexp, const FlowValue *values) {
    const RegexpTree *tree = &known_pattern(regexp)->tree;
    if (tree->name_count == 0) return FLOW_UNDEFINED;
    FlowObject *groups = flow_object_new(vm, NULL);
    for (uint32_t i = 0; i < tree->name_count; i++) {
        const RegexpName *name = &tree->names[i];
        FlowString *key = flow_string_utf16(vm, name->units, name->length);
        flow_object_put(vm, groups, flow_key_string(vm, key), values[name->capture]);
    }
    return flow_from_object(groups);
}

FlowValue flow_regexp_groups(FlowVm *vm, FlowSlotObject *regexp, FlowString *subject,
                             const RegexpFound *found) {
    if (!flow_regexp_has_names(regexp)) return FLOW_UNDEFINED;
    FlowValue *values = mem_alloc(sizeof(FlowValue) * (found->capture_count + 1));
    for (uint32_t i = 0; i <= found->capture_count; i++) {
        values[i] = capture_text(vm, subject, found, i);
    }
    FlowValue groups = named_values(vm, regexp, values);
    mem_free(values);
    return groups;
}

static void put_indices(FlowVm *vm, FlowSlotObject *regexp, FlowArray *result,
                        const RegexpFound *found, FlowValue *scratch) {
    for (uint32_t i = 0; i <= found->capture_count; i++) scratch[i] = capture_range(vm, found, i);
    FlowArray *indices = flow_array_from(vm, scratch, found->capture_count + 1);
    FlowValue groups = named_values(vm, regexp, scratch);
    flow_object_put(vm, &indices->object, FLOW_KEY(vm, groups), groups);
    flow_object_put(vm, &result->object, FLOW_KEY(vm, indices), flow_from_object(indices));
}

// Bytes that the parts of a result take at most.
static size_t result_size(const FlowString *subject, const RegexpFound *found) {
    size_t total = 0;
    for (uint32_t i = 0; i <= found->capture_count; i++) {
        if (found->captures[2 * i] < 0) continue;
        total += (size_t)(found->captures[2 * i + 1] - found->captures[2 * i]);
    }
    return total * (flow_string_is_wide(subject) ? 2 : 1) + 64 * ((size_t)found->capture_count + 4);
}

static FlowNativeResult flow_regexp_result(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *regexp,
                                           FlowString *subject, const RegexpFound *found) {
    size_t size = result_size(subject, found);
    if (!flow_heap_has_room(&vm->heap, size)) return flow_native_room(vm, call, size);
    FlowValue few[17];
    uint32_t count = found->capture_count + 1;
    FlowValue *values = count <= 17 ? few : mem_alloc(sizeof(FlowValue) * count);
    for (uint32_t i = 0; i < count; i++) values[i] = capture_text(vm, subject, found, i);
    FlowArray *result = flow_array_from(vm, values, count);
    FlowObject *object = &result->object;
    flow_object_put(vm, object, FLOW_KEY(vm, index), flow_int(found->captures[0]));
    flow_object_put(vm, object, FLOW_KEY(vm, input), flow_from_string(subject));
    flow_object_put(vm, object, FLOW_KEY(vm, groups), named_values(vm, regexp, values));
    if (flow_regexp_flags(regexp) & REGEXP_HAS_INDICES) {
        put_indices(vm, regexp, result, found, values);
    }
    if (values != few) mem_free(values);
    return flow_native_return(call, flow_from_object(result));
}

// --- exec and test

// Matches as exec does, lastIndex included; what to do with the match is the caller's.
static FlowNativeResult exec_step(FlowVm *vm, FlowSlotObject *regexp, FlowString *subject,
                                  double last_index, RegexpFound *found) {
    bool is_moving = flow_regexp_flags(regexp) & (REGEXP_GLOBAL | REGEXP_STICKY);
    found->is_found = false;
    if (!is_moving) last_index = 0;
    if (last_index <= flow_string_length(subject)) {
        RegexpSearch search = flow_regexp_search(vm, regexp, subject);
        TRY_NATIVE(flow_regexp_find(&search, (uint32_t)last_index, found));
    }
    if (!found->is_found && is_moving && !flow_regexp_set_last_index(vm, regexp, 0)) {
        return NATIVE_THROW;
    }
    return NATIVE_OK;
}

FlowNativeResult flow_regexp_exec(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *regexp,
                                  FlowString *subject, double last_index) {
    RegexpFound found;
    TRY_NATIVE(exec_step(vm, regexp, subject, last_index, &found));
    if (!found.is_found) return flow_native_return(call, FLOW_NULL);
    FlowNativeResult r = flow_regexp_result(vm, call, regexp, subject, &found);
    bool is_moving = flow_regexp_flags(regexp) & (REGEXP_GLOBAL | REGEXP_STICKY);
    if (r == NATIVE_OK && is_moving && !flow_regexp_set_last_index(vm, regexp, found.captures[1])) {
        r = NATIVE_THROW;
    }
    flow_regexp_found_done(&found);
    return r;
}

static FlowNativeResult incompatible(FlowVm *vm, const char *method, FlowValue receiver) {
    char text[FLOW_TEXT_MAX];
    return flow_native_throw(vm, ERROR_KIND_TYPE,
                             "Method RegExp.prototype.%s called on incompatible receiver %s",
                             method, flow_describe(vm, receiver, text));
}

static FlowNativeResult regexp_exec(FlowVm *vm, FlowNativeCall *call) {
    FlowValue receiver = *call->this_value;
    if (!flow_is_kind(receiver, KIND_REGEXP)) return incompatible(vm, "exec", receiver);
    FlowSlotObject *regexp = flow_as_pointer(receiver);
    FlowString *subject;
    TRY_NATIVE(flow_argument_string(vm, call, 0, &subject));
    FlowValue last = flow_object_get_data(vm, &regexp->object, FLOW_KEY(vm, lastIndex));
    if (!flow_is_number(last)) { // converting it may run script code
        FlowValue arguments[] = {receiver, flow_from_string(subject)};
        return flow_native_prelude(vm, call, "RegExp_execConverting", arguments, 2);
    }
    return flow_regexp_exec(vm, call, regexp, subject, flow_regexp_last_index(vm, regexp));
}

static FlowNativeResult regexp_test(FlowVm *vm, FlowNativeCall *call) {
    if (!flow_regexp_is_pristine(vm, *call->this_value)) return flow_native_slow(vm, call);
    FlowSlotObject *regexp = flow_as_pointer(*call->this_value);
    FlowString *subject;
    TRY_NATIVE(flow_argument_string(vm, call, 0, &subject));
    RegexpFound found;
    TRY_NATIVE(exec_step(vm, regexp, subject, flow_regexp_last_index(vm, regexp), &found));
    if (found.is_found) {
        bool is_moving = flow_regexp_flags(regexp) & (REGEXP_GLOBAL | REGEXP_STICKY);
        if (is_moving) flow_regexp_set_last_index(vm, regexp, found.captures[1]);
        flow_regexp_found_done(&found);
    }
    return flow_native_return(call, flow_bool(found.is_found));
}

// --- constructor

static FlowNativeResult regexp_constructor(FlowVm *vm, FlowNativeCall *call) {
    FlowValue pattern = flow_argument(call, 0);
    FlowValue flags = flow_argument(call, 1);
    bool is_plain =
        flow_is_undefined(call->new_target) || flow_same_bits(call->new_target, call->function);
    if (!is_plain || flow_is_object(pattern) || flow_is_object(flags)) {
        FlowValue arguments[] = {pattern, flags, call->new_target, call->function};
        return flow_native_prelude(vm, call, "RegExp_construct", arguments, 4);
    }
    FlowString *source = flow_string_empty(vm);
    FlowString *letters = source;
    if (!flow_is_undefined(pattern)) TRY_NATIVE(flow_argument_string(vm, call, 0, &source));
    if (!flow_is_undefined(flags)) TRY_NATIVE(flow_argument_string(vm, call, 1, &letters));
    FlowObject *regexp = flow_regexp_new(vm, source, letters);
    return regexp ? flow_native_return(call, flow_from_object(regexp)) : NATIVE_THROW;
}

static FlowNativeResult regexp_species(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, *call->this_value);
}

// --- intrinsics

// %regexpExecAt(regexp, string, lastIndex)
static FlowNativeResult intrinsic_exec_at(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *regexp = flow_as_pointer(flow_argument(call, 0));
    FlowString *subject = flow_string_flat(vm, flow_as_string(flow_argument(call, 1)));
    return flow_regexp_exec(vm, call, regexp, subject, flow_as_number(flow_argument(call, 2)));
}

// %regexpCreate(source, flags, prototype): the prototype may be anything.
static FlowNativeResult intrinsic_create(FlowVm *vm, FlowNativeCall *call) {
    FlowValue proto = flow_argument(call, 2);
    FlowObject *regexp = regexp_create(
        vm, flow_as_string(flow_argument(call, 0)), flow_as_string(flow_argument(call, 1)),
        flow_is_object(proto) ? flow_as_object(proto) : vm->realm->protos[PROTO_REGEXP]);
    return regexp ? flow_native_return(call, flow_from_object(regexp)) : NATIVE_THROW;
}

static FlowNativeResult intrinsic_is_regexp(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, flow_bool(flow_is_kind(flow_argument(call, 0), KIND_REGEXP)));
}

static FlowNativeResult intrinsic_is_pristine(FlowVm *vm, FlowNativeCall *call) {
    return flow_native_return(call, flow_bool(flow_regexp_is_pristine(vm, flow_argument(call, 0))));
}

// magic: 0 the source as given, 1 the flags as given.
static FlowNativeResult intrinsic_text(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    const FlowSlotObject *regexp = flow_as_pointer(flow_argument(call, 0));
    return flow_native_return(call, regexp->internal[flow_native_magic(call)]);
}

// magic: FlowSymbolId.
static FlowNativeResult intrinsic_symbol(FlowVm *vm, FlowNativeCall *call) {
    FlowSymbol *symbol = vm->realm->symbols[flow_native_magic(call)];
    return flow_native_return(call, flow_from_symbol(symbol));
}

static FlowNativeResult intrinsic_constructor(FlowVm *vm, FlowNativeCall *call) {
    FlowObject *proto = vm->realm->protos[PROTO_REGEXP];
    FlowProperty property;
    bool is_found = flow_shape_find(proto->shape, FLOW_KEY(vm, constructor), &property.slot,
                                    &property.attributes);
    ASSERT(is_found);
    return flow_native_return(call, proto->slots[property.slot]);
}

const FlowNativeEntry flow_intrinsics_regexp[] = {
    NATIVE("regexpExecAt", intrinsic_exec_at, 3),
    NATIVE("regexpCreate", intrinsic_create, 3),
    NATIVE("isRegExpObject", intrinsic_is_regexp, 1),
    NATIVE("isPristineRegExp", intrinsic_is_pristine, 1),
    NATIVE("regExpConstructor", intrinsic_constructor, 0),
    NATIVE_MAGIC("regexpSource", intrinsic_text, 1, 0),
    NATIVE_MAGIC("regexpFlags", intrinsic_text, 1, 1),
    NATIVE_MAGIC("symbolMatch", intrinsic_symbol, 0, SYMBOL_MATCH),
    NATIVE_MAGIC("symbolMatchAll", intrinsic_symbol, 0, SYMBOL_MATCH_ALL),
    NATIVE_MAGIC("symbolReplace", intrinsic_symbol, 0, SYMBOL_REPLACE),
    NATIVE_MAGIC("symbolSearch", intrinsic_symbol, 0, SYMBOL_SEARCH),
    NATIVE_MAGIC("symbolSplit", intrinsic_symbol, 0, SYMBOL_SPLIT),
    NATIVE("regexpMatches", flow_regexp_intrinsic_matches, 2),
    NATIVE("regexpStringIterator", flow_regexp_intrinsic_iterator, 4),
    NATIVE("regexpIteratorState", flow_regexp_intrinsic_iterator_state, 2),
    NATIVE("regexpIteratorEnd", flow_regexp_intrinsic_iterator_end, 1),
    NATIVE_END,
};

// --- tables

#define FLAG(name, bit)                                                                            \
    { name, flow_regexp_flag_native, NULL, 0, NATIVE_GETTER, bit }

static const FlowNativeEntry regexp_statics[] = {
    {"@@species", regexp_species, NULL, 0, NATIVE_GETTER, 0},
    NATIVE_END,
};

static const FlowNativeEntry regexp_members[] = {
    NATIVE("exec", regexp_exec, 1),
    FLAG("dotAll", REGEXP_DOT_ALL),
    {"flags", flow_regexp_flags_text_native, "RegExp_flags", 0, NATIVE_GETTER, 0},
    FLAG("global", REGEXP_GLOBAL),
    FLAG("hasIndices", REGEXP_HAS_INDICES),
    FLAG("ignoreCase", REGEXP_IGNORE_CASE),
    FLAG("multiline", REGEXP_MULTILINE),
    GETTER("source", flow_regexp_source_native),
    FLAG("sticky", REGEXP_STICKY),
    FLAG("unicode", REGEXP_UNICODE),
    PRELUDE("toString", "RegExp_prototype_toString", 0),
    NATIVE_SLOW("test", regexp_test, "RegExp_prototype_test", 1),
    NATIVE_SLOW("@@match", flow_regexp_symbol_match, "RegExp_prototype_match", 1),
    NATIVE_SLOW("@@matchAll", flow_regexp_symbol_match_all, "RegExp_prototype_matchAll", 1),
    NATIVE_SLOW("@@replace", flow_regexp_symbol_replace, "RegExp_prototype_replace", 2),
    NATIVE_SLOW("@@search", flow_regexp_symbol_search, "RegExp_prototype_search", 1),
    NATIVE_SLOW("@@split", flow_regexp_symbol_split, "RegExp_prototype_split", 2),
    NATIVE_END,
};

const FlowClassEntry flow_class_regexp = {
    .name = "RegExp",
    .constructor = {"RegExp", regexp_constructor, NULL, 2, NATIVE_CONSTRUCTOR, 0},
    .statics = regexp_statics,
    .members = regexp_members,
    .kind = KIND_REGEXP,
    .proto_id = 1 + PROTO_REGEXP,
};
