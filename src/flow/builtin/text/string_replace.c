// replace, replaceAll and split with plain strings, and replacement templates.
//
// A pristine RegExp as the first argument goes to regexp/methods.c; functions, other
// objects and changed RegExps to prelude/string.js.
//   [string-replace-1] A template is read once per match, from left to right: `$` and what follows
//        it decide.
#include "flow/builtin/objects.h"
#include "flow/builtin/text/string.h"
#include "flow/regexp/regexp.h"
#include "flow/vm/vm.h"

// --- templates

// Up to two digits: the number of a capture that exists, or 0. *ret_used: how many digits it took.
static uint32_t capture_number(const FlowString *t, uint32_t at, uint32_t count,
                               uint32_t *ret_used) {
    uint32_t length = flow_string_length(t);
    uint32_t first = at < length ? flow_string_at(t, at) - '0' : 99;
    uint32_t second = at + 1 < length ? flow_string_at(t, at + 1) - '0' : 99;
    *ret_used = 0;
    if (first > 9) return 0;
    if (second <= 9 && first * 10 + second >= 1 && first * 10 + second <= count) {
        *ret_used = 2;
        return first * 10 + second;
    }
    if (first == 0 || first > count) return 0;
    *ret_used = 1;
    return first;
}

static void put_capture(FlowStringBuilder *builder, const StringMatch *match, uint32_t number) {
    int32_t start = match->captures[2 * (number - 1)];
    if (start < 0) return;
    flow_builder_range(builder, match->subject, (uint32_t)start,
                       (uint32_t)match->captures[2 * (number - 1) + 1]);
}

// What stands behind the `$` at at - 1; answers how many units it took, 0: the $ is itself.
static uint32_t put_reference(FlowStringBuilder *builder, const FlowString *t, uint32_t at,
                              const StringMatch *match) {
    uint32_t length = flow_string_length(t);
    uint32_t used;
    switch (at < length ? flow_string_at(t, at) : 0) {
    case '$': flow_builder_unit(builder, '$'); return 1;
    case '&': flow_builder_range(builder, match->subject, match->start, match->end); return 1;
    case '`': flow_builder_range(builder, match->subject, 0, match->start); return 1;
    case '\'':
        flow_builder_range(builder, match->subject, match->end, flow_string_length(match->subject));
        return 1;
    case '<': {
        if (!match->find_name) return 0;
        uint32_t end = at + 1;
        while (end < length && flow_string_at(t, end) != '>') end++;
        if (end == length) return 0;
        uint32_t number = match->find_name(match->find_context, t, at + 1, end);
        if (number) put_capture(builder, match, number);
        return end + 1 - at;
    }
    default: {
        uint32_t number = capture_number(t, at, match->capture_count, &used);
        if (number) put_capture(builder, match, number);
        return used;
    }
    }
}

void flow_string_substitute(FlowStringBuilder *builder, FlowString *template,
                            const StringMatch *match) {
    uint32_t length = flow_string_length(template);
    uint32_t copied = 0;
    for (uint32_t i = 0; i < length && !builder->is_too_long; i++) {
        if (flow_string_at(template, i) != '$') continue;
        flow_builder_range(builder, template, copied, i);
        uint32_t used = put_reference(builder, template, i + 1, match);
        if (used == 0) flow_builder_unit(builder, '$');
        i += used;
        copied = i + 1;
    }
    if (copied < length) flow_builder_range(builder, template, copied, length);
}

// --- replace

static FlowNativeResult replace_plain(FlowVm *vm, FlowNativeCall *call, const char *method,
                                      bool is_all) {
    FlowString *subject;
    FlowString *needle;
    FlowString *template;
    TRY_NATIVE(flow_this_string(vm, call, method, &subject));
    TRY_NATIVE(flow_argument_string(vm, call, 0, &needle));
    TRY_NATIVE(flow_argument_string(vm, call, 1, &template));
    uint32_t needle_length = flow_string_length(needle);
    uint32_t length = flow_string_length(subject);
    int64_t at = flow_string_find_paid(vm, subject, needle, 0);
    if (at < 0) return flow_native_string(call, subject);
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    uint32_t done = 0;
    while (at >= 0 && !builder.is_too_long) {
        uint32_t start = (uint32_t)at;
        flow_builder_range(&builder, subject, done, start);
        StringMatch match = {.subject = subject, .start = start, .end = start + needle_length};
        flow_string_substitute(&builder, template, &match);
        flow_native_charge(vm, 16 + flow_string_length(template));
        done = start + needle_length;
        uint32_t next = needle_length ? done : done + 1;
        if (!is_all || next > length) break;
        at = flow_string_find_paid(vm, subject, needle, next);
    }
    flow_builder_range(&builder, subject, done, length);
    flow_native_charge(vm, builder.length / 4);
    return flow_native_string(call, flow_builder_finish(&builder));
}

FlowNativeResult flow_string_replace_native(FlowVm *vm, FlowNativeCall *call) {
    FlowValue pattern = flow_argument(call, 0);
    if (flow_regexp_is_pristine(vm, pattern)) return flow_string_replace_regexp(vm, call);
    if (flow_is_object(pattern) || flow_is_callable(flow_argument(call, 1))) {
        return flow_native_slow(vm, call);
    }
    return replace_plain(vm, call, "String.prototype.replace", false);
}

FlowNativeResult flow_string_replace_all_native(FlowVm *vm, FlowNativeCall *call) {
    if (flow_is_object(flow_argument(call, 0)) || flow_is_callable(flow_argument(call, 1))) {
        return flow_native_slow(vm, call);
    }
    return replace_plain(vm, call, "String.prototype.replaceAll", true);
}

// --- split

static FlowNativeResult push_piece(FlowVm *vm, FlowNativeCall *call, FlowArray *pieces,
                                   FlowString *piece) {
    if (pieces->length >= vm->limits.array_length) {
        return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid array length");
    }
    flow_array_push(vm, pieces, flow_from_string(piece));
    vm->fuel -= 2;
    if (pieces->length % 256 == 0 && !flow_heap_has_room(&vm->heap, 256 * 64)) {
        return flow_native_room(vm, call, 256 * 64);
    }
    return NATIVE_OK;
}

static FlowNativeResult split_units(FlowVm *vm, FlowNativeCall *call, FlowString *subject,
                                    uint32_t limit) {
    uint32_t count = flow_string_length(subject);
    if (count > limit) count = limit;
    FlowArray *pieces = flow_array_new(vm, count < 1024 ? count : 1024);
    for (uint32_t i = 0; i < count; i++) {
        FlowString *piece = flow_string_unit(vm, flow_string_at(subject, i));
        TRY_NATIVE(push_piece(vm, call, pieces, piece));
    }
    return flow_native_return(call, flow_from_object(pieces));
}

FlowNativeResult flow_string_split_native(FlowVm *vm, FlowNativeCall *call) {
    FlowValue separator_value = flow_argument(call, 0);
    if (flow_regexp_is_pristine(vm, separator_value)) return flow_string_split_regexp(vm, call);
    if (flow_is_object(separator_value)) return flow_native_slow(vm, call);
    FlowString *subject;
    FlowString *separator;
    TRY_NATIVE(flow_this_string(vm, call, "String.prototype.split", &subject));
    uint32_t limit = UINT32_MAX;
    if (!flow_is_undefined(flow_argument(call, 1))) {
        double number;
        TRY_NATIVE(flow_argument_number(vm, call, 1, &number));
        limit = (uint32_t)flow_double_to_int32(number);
    }
    TRY_NATIVE(flow_argument_string(vm, call, 0, &separator));
    if (limit == 0) return flow_native_return(call, flow_from_object(flow_array_new(vm, 0)));
    if (flow_is_undefined(separator_value)) {
        FlowValue whole = flow_from_string(subject);
        return flow_native_return(call, flow_from_object(flow_array_from(vm, &whole, 1)));
    }
    uint32_t count = flow_string_length(separator);
    if (count == 0) return split_units(vm, call, subject, limit);
    size_t bytes = (size_t)flow_string_length(subject) * (flow_string_is_wide(subject) ? 2 : 1);
    if (!flow_heap_has_room(&vm->heap, bytes)) return flow_native_room(vm, call, bytes);
    FlowArray *pieces = flow_array_new(vm, 4);
    uint32_t done = 0;
    for (int64_t at = flow_string_find_paid(vm, subject, separator, 0); at >= 0;
         at = flow_string_find_paid(vm, subject, separator, done)) {
        FlowString *piece = flow_string_substring(vm, subject, done, (uint32_t)at);
        TRY_NATIVE(push_piece(vm, call, pieces, piece));
        if (pieces->length >= limit) return flow_native_return(call, flow_from_object(pieces));
        done = (uint32_t)at + count;
    }
    FlowString *rest = flow_string_substring(vm, subject, done, flow_string_length(subject));
    TRY_NATIVE(push_piece(vm, call, pieces, rest));
    return flow_native_return(call, flow_from_object(pieces));
}
