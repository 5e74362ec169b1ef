// String: constructor, statics and the methods that look at one string.
//
//   [text-string-1] `this` is converted first, then the arguments in order, as conversions can be
//        seen.
//   [text-string-2] Methods that may meet a regular expression or a function are natives for the
//        plain case and leave the rest to prelude/string.js (text/string_replace.c).
#include "flow/builtin/text/string.h"
#include "flow/builtin/objects.h"
#include "flow/regexp/regexp.h"
#include "flow/vm/vm.h"
#include <stdio.h>

// --- constructor and statics

static FlowNativeResult string_constructor(FlowVm *vm, FlowNativeCall *call) {
    FlowString *text = flow_string_empty(vm);
    if (call->count > 0) {
        FlowValue value = call->arguments[0];
        if (flow_is_symbol(value) && flow_is_undefined(call->new_target)) {
            FlowValue description = flow_as_symbol(value)->description;
            FlowStringBuilder builder;
            flow_builder_init(&builder, vm);
            flow_builder_ascii(&builder, "Symbol(");
            if (flow_is_string(description)) {
                flow_builder_string(&builder, flow_as_string(description));
            }
            flow_builder_unit(&builder, ')');
            return flow_native_string(call, flow_builder_finish(&builder));
        }
        if (flow_is_string(value)) text = flow_as_string(value);
        else TRY_NATIVE(flow_argument_string(vm, call, 0, &text));
    }
    if (flow_is_undefined(call->new_target)) return flow_native_string(call, text);
    return flow_native_wrap(vm, call, KIND_STRING_OBJECT, PROTO_STRING, flow_from_string(text));
}

static FlowNativeResult string_from_char_code(FlowVm *vm, FlowNativeCall *call) {
    if (call->count == 1 && flow_is_int(call->arguments[0])) {
        uint16_t unit = (uint16_t)flow_as_int(call->arguments[0]);
        return flow_native_string(call, flow_string_unit(vm, unit));
    }
    for (uint32_t i = 0; i < call->count;
         i++) { // [text-string-1], and nothing to undo when one throws
        double number;
        TRY_NATIVE(flow_argument_number(vm, call, (int)i, &number));
    }
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    for (uint32_t i = 0; i < call->count; i++) {
        double number = 0;
        TRY_NATIVE(flow_argument_number(vm, call, (int)i, &number));
        flow_builder_unit(&builder, (uint16_t)(uint32_t)flow_double_to_int32(number));
    }
    return flow_native_string(call, flow_builder_finish(&builder));
}

static FlowNativeResult string_from_code_point(FlowVm *vm, FlowNativeCall *call) {
    for (uint32_t i = 0; i < call->count; i++) {
        double number;
        TRY_NATIVE(flow_argument_number(vm, call, (int)i, &number));
        if (trunc(number) == number && number >= 0 && number <= 0x10FFFF) continue;
        FlowString *text = flow_to_string(vm, call->arguments[i]);
        Buf plain;
        buf_init(&plain, 256);
        if (text) flow_string_to_utf8(vm, text, &plain);
        FlowNativeResult r =
            flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid code point %s", buf_cstr(&plain));
        buf_done(&plain);
        return r;
    }
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    for (uint32_t i = 0; i < call->count; i++) {
        double number = 0;
        TRY_NATIVE(flow_argument_number(vm, call, (int)i, &number));
        flow_builder_code_point(&builder, (uint32_t)number);
    }
    return flow_native_string(call, flow_builder_finish(&builder));
}

// --- characters

static bool is_high_surrogate(uint16_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
static bool is_low_surrogate(uint16_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

// The code point at `at`, which takes one unit or two.
static uint32_t code_point_at(const FlowString *s, uint32_t at, uint32_t *ret_size) {
    uint16_t unit = flow_string_at(s, at);
    *ret_size = 1;
    if (!is_high_surrogate(unit) || at + 1 == flow_string_length(s)) return unit;
    uint16_t low = flow_string_at(s, at + 1);
    if (!is_low_surrogate(low)) return unit;
    *ret_size = 2;
    return 0x10000 + ((uint32_t)(unit - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
}

// this and a position for charAt and its kin.
static FlowNativeResult this_and_position(FlowVm *vm, FlowNativeCall *call, const char *method,
                                          FlowString **ret_s, double *ret_position) {
    TRY_NATIVE(flow_this_string(vm, call, method, ret_s));
    FlowValue position = flow_argument(call, 0);
    if (flow_is_int(position)) {
        *ret_position = flow_as_int(position);
        return NATIVE_OK;
    }
    return flow_argument_integer(vm, call, 0, ret_position);
}

static FlowNativeResult string_at(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    double at;
    TRY_NATIVE(this_and_position(vm, call, "String.prototype.at", &s, &at));
    if (at < 0) at += flow_string_length(s);
    if (at < 0 || at >= flow_string_length(s)) return flow_native_return(call, FLOW_UNDEFINED);
    return flow_native_string(call, flow_string_unit(vm, flow_string_at(s, (uint32_t)at)));
}

static FlowNativeResult string_char_at(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    double at;
    TRY_NATIVE(this_and_position(vm, call, "String.prototype.charAt", &s, &at));
    if (at < 0 || at >= flow_string_length(s)) {
        return flow_native_string(call, flow_string_empty(vm));
    }
    return flow_native_string(call, flow_string_unit(vm, flow_string_at(s, (uint32_t)at)));
}

static FlowNativeResult string_char_code_at(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    double at;
    TRY_NATIVE(this_and_position(vm, call, "String.prototype.charCodeAt", &s, &at));
    if (at < 0 || at >= flow_string_length(s)) return flow_native_return(call, FLOW_NAN);
    return flow_native_return(call, flow_int(flow_string_at(s, (uint32_t)at)));
}

static FlowNativeResult string_code_point_at(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    double at;
    TRY_NATIVE(this_and_position(vm, call, "String.prototype.codePointAt", &s, &at));
    if (at < 0 || at >= flow_string_length(s)) return flow_native_return(call, FLOW_UNDEFINED);
    uint32_t size;
    return flow_native_return(call, flow_int((int32_t)code_point_at(s, (uint32_t)at, &size)));
}

// --- parts

static FlowNativeResult return_part(FlowVm *vm, FlowNativeCall *call, FlowString *s, double start,
                                    double end) {
    if (start >= end) return flow_native_string(call, flow_string_empty(vm));
    return flow_native_string(call, flow_string_substring(vm, s, (uint32_t)start, (uint32_t)end));
}

// A position that counts from the end when negative.
static double relative(double position, double length) {
    return position < 0 ? fmax(position + length, 0) : fmin(position, length);
}

// The string, and two integers: where to begin, and the length of the string unless given.
static FlowNativeResult read_part(FlowVm *vm, FlowNativeCall *call, const char *method,
                                  FlowString **ret_string, double ret_numbers[2]) {
    TRY_NATIVE(flow_this_string(vm, call, method, ret_string));
    TRY_NATIVE(flow_argument_integer(vm, call, 0, &ret_numbers[0]));
    ret_numbers[1] = flow_string_length(*ret_string);
    if (flow_is_undefined(flow_argument(call, 1))) return NATIVE_OK;
    return flow_argument_integer(vm, call, 1, &ret_numbers[1]);
}

static FlowNativeResult string_slice(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    double part[2];
    TRY_NATIVE(read_part(vm, call, "String.prototype.slice", &s, part));
    double length = flow_string_length(s);
    return return_part(vm, call, s, relative(part[0], length), relative(part[1], length));
}

static FlowNativeResult string_substring(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    double part[2];
    TRY_NATIVE(read_part(vm, call, "String.prototype.substring", &s, part));
    double start = flow_string_clamp(part[0], flow_string_length(s));
    double end = flow_string_clamp(part[1], flow_string_length(s));
    return return_part(vm, call, s, fmin(start, end), fmax(start, end));
}

static FlowNativeResult string_substr(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    double part[2];
    TRY_NATIVE(read_part(vm, call, "String.prototype.substr", &s, part));
    double length = flow_string_length(s), start = relative(part[0], length);
    return return_part(vm, call, s, start, fmin(start + part[1], length));
}

enum { TRIM_START = 1, TRIM_END = 2 }; // magic

static FlowNativeResult string_trim(FlowVm *vm, FlowNativeCall *call) {
    uint16_t which = flow_native_magic(call);
    const char *name = which == TRIM_START ? "String.prototype.trimLeft"
                       : which == TRIM_END ? "String.prototype.trimRight"
                                           : "String.prototype.trim";
    FlowString *s;
    TRY_NATIVE(flow_this_string(vm, call, name, &s));
    uint32_t start = 0;
    uint32_t end = flow_string_length(s);
    while (which & TRIM_START && start < end && flow_is_space(flow_string_at(s, start))) start++;
    while (which & TRIM_END && end > start && flow_is_space(flow_string_at(s, end - 1))) end--;
    flow_native_charge(vm, (uint64_t)(flow_string_length(s) - (end - start)) * 4);
    return return_part(vm, call, s, start, end);
}

// --- joining

static FlowNativeResult string_concat(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    TRY_NATIVE(flow_this_string(vm, call, "String.prototype.concat", &s));
    for (uint32_t i = 0; i < call->count; i++) {
        FlowString *part;
        TRY_NATIVE(flow_argument_string(vm, call, (int)i, &part));
        if (flow_native_is_overdrawn(vm)) return flow_native_slow(vm, call);
    }
    for (uint32_t i = 0; i < call->count; i++) {
        FlowString *part = NULL;
        TRY_NATIVE(flow_argument_string(vm, call, (int)i, &part));
        if (flow_native_is_overdrawn(vm)) return flow_native_slow(vm, call);
        s = flow_string_concat(vm, s, part);
        if (!s) return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid string length");
    }
    return flow_native_string(call, s);
}

// `count` units of `pattern` over and over into a new string; the heap has room.
static FlowString *repeat_units(FlowVm *vm, const FlowString *pattern, size_t count) {
    bool is_wide = flow_string_is_wide(pattern);
    uint32_t length = flow_string_length(pattern);
    FlowString *s = flow_string_alloc(vm, count, is_wide);
    if (!is_wide && length == 1) {
        memset(s->latin1, pattern->latin1[0], count);
        return s;
    }
    for (size_t i = 0; i < count; i++) {
        if (is_wide) s->wide[i] = pattern->wide[i % length];
        else s->latin1[i] = pattern->latin1[i % length];
    }
    if (!is_wide || count >= length) return s;
    return flow_string_utf16(vm, s->wide, count); // a cut pattern may be narrow
}

static FlowNativeResult string_repeat(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    double count;
    TRY_NATIVE(flow_this_string(vm, call, "String.prototype.repeat", &s));
    TRY_NATIVE(flow_argument_integer(vm, call, 0, &count));
    if (count < 0 || isinf(count)) {
        FlowString *text = flow_to_string(vm, flow_argument(call, 0));
        Buf plain;
        buf_init(&plain, 256);
        if (text) flow_string_to_utf8(vm, text, &plain);
        FlowNativeResult r =
            flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid count value: %s", buf_cstr(&plain));
        buf_done(&plain);
        return r;
    }
    double length = flow_string_length(s) * count;
    if (length == 0) return flow_native_string(call, flow_string_empty(vm));
    if (length > vm->limits.string_length) {
        return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid string length");
    }
    size_t bytes = (size_t)length * (flow_string_is_wide(s) ? 2 : 1);
    if (!flow_heap_has_room(&vm->heap, bytes)) return flow_native_room(vm, call, bytes);
    flow_native_charge(vm, bytes);
    return flow_native_string(call, repeat_units(vm, s, (size_t)length));
}

// magic: 1 for padStart, 0 for padEnd.
static FlowNativeResult string_pad(FlowVm *vm, FlowNativeCall *call) {
    bool is_start = flow_native_magic(call) == 1;
    FlowString *s;
    double target;
    TRY_NATIVE(flow_this_string(
        vm, call, is_start ? "String.prototype.padStart" : "String.prototype.padEnd", &s));
    TRY_NATIVE(flow_argument_integer(vm, call, 0, &target));
    uint32_t length = flow_string_length(s);
    if (target <= length) return flow_native_string(call, s);
    FlowString *filler = vm->realm->units[' '];
    if (!flow_is_undefined(flow_argument(call, 1))) {
        TRY_NATIVE(flow_argument_string(vm, call, 1, &filler));
    }
    if (flow_string_length(filler) == 0) return flow_native_string(call, s);
    if (target > vm->limits.string_length) {
        return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid string length");
    }
    size_t bytes = (size_t)target * 4;
    if (!flow_heap_has_room(&vm->heap, bytes)) return flow_native_room(vm, call, bytes);
    flow_native_charge(vm, (uint64_t)target - length);
    FlowString *padding = repeat_units(vm, filler, (size_t)target - length);
    return flow_native_string(call, is_start ? flow_string_concat(vm, padding, s)
                                             : flow_string_concat(vm, s, padding));
}

// --- whole strings

enum { CASE_LOWER, CASE_UPPER, CASE_LOCALE_LOWER, CASE_LOCALE_UPPER }; // magic

static FlowNativeResult string_case(FlowVm *vm, FlowNativeCall *call) {
    static const char *const names[] = {
        "String.prototype.toLowerCase", "String.prototype.toUpperCase",
        "String.prototype.toLocaleLowerCase", "String.prototype.toLocaleUpperCase"};
    uint16_t which = flow_native_magic(call);
    FlowString *s;
    TRY_NATIVE(flow_this_string(vm, call, names[which], &s));
    size_t bytes = (size_t)flow_string_length(s) * 6;
    if (!flow_heap_has_room(&vm->heap, bytes)) return flow_native_room(vm, call, bytes);
    flow_native_charge(vm, (uint64_t)flow_string_length(s) * 8);
    bool is_upper = which == CASE_UPPER || which == CASE_LOCALE_UPPER;
    return flow_native_string(call, is_upper ? flow_string_upper(vm, s) : flow_string_lower(vm, s));
}

static FlowNativeResult string_normalize(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    FlowString *name = NULL;
    TRY_NATIVE(flow_this_string(vm, call, "String.prototype.normalize", &s));
    if (!flow_is_undefined(flow_argument(call, 0))) {
        TRY_NATIVE(flow_argument_string(vm, call, 0, &name));
    }
    static const char *const forms[] = {"NFC", "NFD", "NFKC", "NFKD"};
    int form = name ? -1 : FORM_NFC;
    for (int i = 0; name && i < 4; i++) {
        if (flow_string_equals_ascii(vm, name, forms[i])) form = i;
    }
    if (form < 0) {
        return flow_native_throw(vm, ERROR_KIND_RANGE,
                                 "The normalization form should be one of "
                                 "NFC, NFD, NFKC, NFKD.");
    }
    flow_native_charge(vm, flow_string_length(s));
    return flow_native_string(call, flow_string_normalize(vm, s, (NormalForm)form));
}

// magic: 1 for toString, 0 for valueOf.
static FlowNativeResult string_value_of(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_this_primitive(call, flow_is_string, KIND_STRING_OBJECT);
    if (!flow_is_hole(value)) return flow_native_return(call, value);
    return flow_native_throw(vm, ERROR_KIND_TYPE,
                             "String.prototype.%s requires that 'this' be a String",
                             flow_native_magic(call) == 1 ? "toString" : "valueOf");
}

// The first unit that is a lone surrogate, or the length.
static uint32_t find_lone_surrogate(const FlowString *s) {
    uint32_t length = flow_string_length(s);
    if (!flow_string_is_wide(s)) return length;
    for (uint32_t i = 0; i < length; i++) {
        uint32_t size;
        uint32_t code_point = code_point_at(s, i, &size);
        if (size == 1 && code_point >= 0xD800 && code_point <= 0xDFFF) return i;
        i += size - 1;
    }
    return length;
}

static FlowNativeResult string_is_well_formed(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    TRY_NATIVE(flow_this_string(vm, call, "String.prototype.isWellFormed", &s));
    flow_native_charge(vm, flow_string_length(s));
    bool is_well = find_lone_surrogate(s) == flow_string_length(s);
    return flow_native_return(call, flow_bool(is_well));
}

static FlowNativeResult string_to_well_formed(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    TRY_NATIVE(flow_this_string(vm, call, "String.prototype.toWellFormed", &s));
    uint32_t length = flow_string_length(s);
    flow_native_charge(vm, (uint64_t)length * 4);
    if (find_lone_surrogate(s) == length) return flow_native_string(call, s);
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    for (uint32_t i = 0; i < length; i++) {
        uint32_t size;
        uint32_t code_point = code_point_at(s, i, &size);
        bool is_lone = size == 1 && code_point >= 0xD800 && code_point <= 0xDFFF;
        flow_builder_code_point(&builder, is_lone ? 0xFFFD : code_point);
        i += size - 1;
    }
    return flow_native_string(call, flow_builder_finish(&builder));
}

// --- iteration by code points

static FlowNativeResult string_iterator(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    TRY_NATIVE(flow_this_string(vm, call, "String.prototype[Symbol.iterator]", &s));
    FlowSlotObject *iterator =
        flow_slot_object_new(vm, KIND_ITERATOR, vm->realm->protos[PROTO_STRING_ITERATOR]);
    iterator->internal[0] = flow_from_string(s);
    iterator->internal[1] = flow_int(0);
    iterator->internal[2] = flow_int(ITERATOR_STRING);
    return flow_native_return(call, flow_from_object(iterator));
}

bool flow_string_iterator_advance(FlowVm *vm, FlowSlotObject *iterator, FlowValue *ret_item) {
    if (!flow_is_string(iterator->internal[0])) return false;
    FlowString *s = flow_string_flat(vm, flow_as_string(iterator->internal[0]));
    uint32_t at = (uint32_t)flow_as_int(iterator->internal[1]);
    if (at >= flow_string_length(s)) {
        iterator->internal[0] = FLOW_UNDEFINED; // stays done
        return false;
    }
    uint32_t size;
    code_point_at(s, at, &size);
    *ret_item = flow_from_string(size == 1 ? flow_string_unit(vm, flow_string_at(s, at))
                                           : flow_string_substring(vm, s, at, at + 2));
    iterator->internal[1] = flow_int((int32_t)(at + size));
    return true;
}

FlowNativeResult flow_string_iterator_next(FlowVm *vm, FlowNativeCall *call) {
    FlowValue receiver = *call->this_value;
    FlowSlotObject *iterator = flow_as_pointer(receiver);
    if (!flow_is_kind(receiver, KIND_ITERATOR) ||
        !flow_same_bits(iterator->internal[2], flow_int(ITERATOR_STRING))) {
        char text[FLOW_TEXT_MAX];
        return flow_native_throw(
            vm, ERROR_KIND_TYPE,
            "Method String Iterator.prototype.next called on incompatible receiver %s",
            flow_describe(vm, receiver, text));
    }
    FlowValue item = FLOW_UNDEFINED;
    bool is_done = !flow_string_iterator_advance(vm, iterator, &item);
    return flow_native_return(call, flow_from_object(flow_iterator_result(vm, item, is_done)));
}

// --- intrinsics: everything is converted

// %stringFind(s, needle, from): the index, or -1.
static FlowNativeResult intrinsic_find(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s = flow_string_flat(vm, flow_as_string(flow_argument(call, 0)));
    FlowString *needle = flow_string_flat(vm, flow_as_string(flow_argument(call, 1)));
    double from = flow_as_number(flow_argument(call, 2));
    if (from > flow_string_length(s)) return flow_native_return(call, flow_int(-1));
    int64_t found =
        flow_string_find_paid(vm, s, needle, flow_string_clamp(from, flow_string_length(s)));
    return flow_native_return(call, flow_int((int32_t)found));
}

// %stringPart(s, start, end): both may lie outside.
static FlowNativeResult intrinsic_part(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s = flow_string_flat(vm, flow_as_string(flow_argument(call, 0)));
    uint32_t length = flow_string_length(s);
    double start = flow_as_number(flow_argument(call, 1));
    double end = flow_as_number(flow_argument(call, 2));
    return return_part(vm, call, s, flow_string_clamp(start, length),
                       flow_string_clamp(end, length));
}

// %advanceIndex(s, index): behind the code point at index.
static FlowNativeResult intrinsic_advance(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s = flow_string_flat(vm, flow_as_string(flow_argument(call, 0)));
    double index = flow_as_number(flow_argument(call, 1));
    uint32_t size = 1;
    if (index < flow_string_length(s)) code_point_at(s, (uint32_t)index, &size);
    return flow_native_return(call, flow_number(index + size));
}

const FlowNativeEntry flow_intrinsics_string[] = {
    NATIVE("stringFind", intrinsic_find, 3),
    NATIVE("stringPart", intrinsic_part, 3),
    NATIVE("advanceIndex", intrinsic_advance, 2),
    NATIVE("localeCompare", flow_intrinsic_locale_compare, 3),
    NATIVE_END,
};

// --- tables

static const FlowNativeEntry string_statics[] = {
    NATIVE("fromCharCode", string_from_char_code, 1),
    NATIVE("fromCodePoint", string_from_code_point, 1),
    PRELUDE("raw", "String_raw", 1),
    NATIVE_END,
};

static const FlowNativeEntry string_members[] = {
    NATIVE("at", string_at, 1),
    NATIVE("charAt", string_char_at, 1),
    NATIVE("charCodeAt", string_char_code_at, 1),
    NATIVE("codePointAt", string_code_point_at, 1),
    NATIVE_SLOW("concat", string_concat, "String_prototype_concat", 1),
    NATIVE("endsWith", flow_string_ends_with_native, 1),
    NATIVE("includes", flow_string_includes_native, 1),
    NATIVE("indexOf", flow_string_index_of_native, 1),
    NATIVE("isWellFormed", string_is_well_formed, 0),
    NATIVE("lastIndexOf", flow_string_last_index_of_native, 1),
    NATIVE_SLOW("localeCompare", flow_string_locale_compare_native,
                "String_prototype_localeCompare", 1),
    NATIVE_SLOW("match", flow_string_match_native, "String_prototype_match", 1),
    NATIVE_SLOW("matchAll", flow_string_match_all_native, "String_prototype_matchAll", 1),
    NATIVE("normalize", string_normalize, 0),
    NATIVE_MAGIC("padEnd", string_pad, 1, 0),
    NATIVE_MAGIC("padStart", string_pad, 1, 1),
    NATIVE("repeat", string_repeat, 1),
    NATIVE_SLOW("replace", flow_string_replace_native, "String_prototype_replace", 2),
    NATIVE_SLOW("replaceAll", flow_string_replace_all_native, "String_prototype_replaceAll", 2),
    NATIVE_SLOW("search", flow_string_search_native, "String_prototype_search", 1),
    NATIVE("slice", string_slice, 2),
    NATIVE_SLOW("split", flow_string_split_native, "String_prototype_split", 2),
    NATIVE("startsWith", flow_string_starts_with_native, 1),
    NATIVE("substr", string_substr, 2),
    NATIVE("substring", string_substring, 2),
    NATIVE_MAGIC("toLocaleLowerCase", string_case, 0, CASE_LOCALE_LOWER),
    NATIVE_MAGIC("toLocaleUpperCase", string_case, 0, CASE_LOCALE_UPPER),
    NATIVE_MAGIC("toLowerCase", string_case, 0, CASE_LOWER),
    NATIVE_MAGIC("toString", string_value_of, 0, 1),
    NATIVE_MAGIC("toUpperCase", string_case, 0, CASE_UPPER),
    NATIVE("toWellFormed", string_to_well_formed, 0),
    NATIVE_MAGIC("trim", string_trim, 0, TRIM_START | TRIM_END),
    NATIVE_MAGIC("trimEnd", string_trim, 0, TRIM_END),
    NATIVE_MAGIC("trimStart", string_trim, 0, TRIM_START),
    ALIAS("trimLeft", "trimStart"),
    ALIAS("trimRight", "trimEnd"),
    NATIVE_MAGIC("valueOf", string_value_of, 0, 0),
    NATIVE_ITERATOR("@@iterator", string_iterator),
    NATIVE_END,
};

static const FlowNativeEntry string_iterator_members[] = {
    NATIVE("next", flow_string_iterator_next, 0),
    NATIVE_END,
};

const FlowClassEntry flow_class_string = {
    .name = "String",
    .constructor = {"String", string_constructor, NULL, 1, NATIVE_CONSTRUCTOR, 0},
    .statics = string_statics,
    .members = string_members,
    .kind = KIND_STRING_OBJECT,
    .proto_id = 1 + PROTO_STRING,
};

const FlowClassEntry flow_class_string_iterator = {
    .name = "%StringIterator",
    .members = string_iterator_members,
    .parent = "%Iterator",
    .tag = "String Iterator",
    .kind = KIND_OBJECT,
    .proto_id = 1 + PROTO_STRING_ITERATOR,
};
