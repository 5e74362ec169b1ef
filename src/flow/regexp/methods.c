// Methods that take a RegExp through a whole string: match, matchAll, replace, search, split.
//
// Each is a native for pristine RegExps (regexp/regexp.h), where no step of the specification can
// be seen from outside, and goes to prelude/regexp.js for all others.
//
//   [methods-1] Nothing is changed (lastIndex) before the result is complete, because a native may
//        be called again when memory is short.
#include "flow/builtin/objects.h"
#include "flow/builtin/text/string.h"
#include "flow/regexp/internal.h"
#include "flow/regexp/regexp.h"
#include "flow/vm/vm.h"

enum { PIECE_SIZE = 64 }; // bytes that one more element costs besides its text

// Room for another element and `units` of text.
static FlowNativeResult need_room(FlowVm *vm, FlowNativeCall *call, uint32_t units) {
    size_t size = (size_t)units * 2 + PIECE_SIZE;
    if (flow_heap_has_room(&vm->heap, size)) return NATIVE_OK;
    return flow_native_room(vm, call, size);
}

static FlowNativeResult too_many(FlowVm *vm) {
    return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid array length");
}

// Where the next search begins after a match.
static uint32_t next_start(const FlowString *subject, const RegexpFound *found, bool is_unicode) {
    uint32_t end = (uint32_t)found->captures[1];
    return found->captures[0] == found->captures[1] ? flow_regexp_advance(subject, end, is_unicode)
                                                    : end;
}

// What a method does with a regular expression that nobody has changed, and a text.
typedef FlowNativeResult (*RegexpUse)(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *regexp,
                                      FlowString *subject);

static FlowNativeResult on_this(FlowVm *vm, FlowNativeCall *call, RegexpUse use) {
    if (!flow_regexp_is_pristine(vm, *call->this_value)) return flow_native_slow(vm, call);
    FlowString *subject;
    TRY_NATIVE(flow_argument_string(vm, call, 0, &subject));
    return use(vm, call, flow_as_pointer(*call->this_value), subject);
}

static FlowNativeResult on_pattern(FlowVm *vm, FlowNativeCall *call, const char *method,
                                   RegexpUse use) {
    FlowValue pattern = flow_argument(call, 0);
    if (!flow_regexp_is_pristine(vm, pattern)) return flow_native_slow(vm, call);
    FlowString *subject;
    TRY_NATIVE(flow_this_string(vm, call, method, &subject));
    return use(vm, call, flow_as_pointer(pattern), subject);
}

// --- match

// All matches of a global RegExp, as texts.
static FlowNativeResult match_global(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *regexp,
                                     FlowString *subject) {
    bool is_unicode = flow_regexp_flags(regexp) & REGEXP_UNICODE;
    FlowArray *matches = flow_array_new(vm, 0);
    RegexpSearch search = flow_regexp_search(vm, regexp, subject);
    for (uint32_t start = 0; start <= flow_string_length(subject);) {
        RegexpFound found;
        TRY_NATIVE(flow_regexp_find(&search, start, &found));
        if (!found.is_found) break;
        uint32_t from = (uint32_t)found.captures[0];
        uint32_t to = (uint32_t)found.captures[1];
        start = next_start(subject, &found, is_unicode);
        flow_regexp_found_done(&found);
        TRY_NATIVE(need_room(vm, call, to - from));
        if (matches->length >= vm->limits.array_length) return too_many(vm);
        FlowString *text = flow_string_substring(vm, subject, from, to);
        flow_array_push(vm, matches, flow_from_string(text));
    }
    if (!flow_regexp_set_last_index(vm, regexp, 0)) return NATIVE_THROW;
    return flow_native_return(call, matches->length ? flow_from_object(matches) : FLOW_NULL);
}

static FlowNativeResult match(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *regexp,
                              FlowString *subject) {
    if (flow_regexp_flags(regexp) & REGEXP_GLOBAL) return match_global(vm, call, regexp, subject);
    return flow_regexp_exec(vm, call, regexp, subject, flow_regexp_last_index(vm, regexp));
}

FlowNativeResult flow_regexp_symbol_match(FlowVm *vm, FlowNativeCall *call) {
    return on_this(vm, call, match);
}

FlowNativeResult flow_string_match_native(FlowVm *vm, FlowNativeCall *call) {
    return on_pattern(vm, call, "String.prototype.match", match);
}

// --- search

static FlowNativeResult search_first(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *regexp,
                                     FlowString *subject) {
    RegexpFound found;
    RegexpSearch search = flow_regexp_search(vm, regexp, subject);
    TRY_NATIVE(flow_regexp_find(&search, 0, &found));
    int32_t index = found.is_found ? found.captures[0] : -1;
    if (found.is_found) flow_regexp_found_done(&found);
    return flow_native_return(call, flow_int(index));
}

FlowNativeResult flow_regexp_symbol_search(FlowVm *vm, FlowNativeCall *call) {
    return on_this(vm, call, search_first);
}

FlowNativeResult flow_string_search_native(FlowVm *vm, FlowNativeCall *call) {
    return on_pattern(vm, call, "String.prototype.search", search_first);
}

// --- replace

static void substitute(FlowStringBuilder *builder, FlowSlotObject *regexp, FlowString *subject,
                       FlowString *template, const RegexpFound *found) {
    bool has_names = flow_regexp_has_names(regexp);
    StringMatch match_of = {.subject = subject,
                            .start = (uint32_t)found->captures[0],
                            .end = (uint32_t)found->captures[1],
                            .captures = found->captures + 2,
                            .capture_count = found->capture_count,
                            .find_name = has_names ? flow_regexp_name : NULL,
                            .find_context = regexp};
    flow_string_substitute(builder, template, &match_of);
}

// Replaces by a template. The answer to "where does the search begin, and where does lastIndex go"
// depends on g and y as exec has it.
static FlowNativeResult replace(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *regexp,
                                FlowString *subject, FlowString *template) {
    uint32_t flags = flow_regexp_flags(regexp);
    bool is_global = flags & REGEXP_GLOBAL;
    double from = is_global || !(flags & REGEXP_STICKY) ? 0 : flow_regexp_last_index(vm, regexp);
    uint32_t length = flow_string_length(subject);
    uint32_t done = 0; // units of the subject that are in the result
    uint32_t last_index = 0;
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    RegexpSearch search = flow_regexp_search(vm, regexp, subject);
    for (uint32_t start = from <= length ? (uint32_t)from : length + 1; start <= length;) {
        RegexpFound found;
        FlowNativeResult r = flow_regexp_find(&search, start, &found);
        if (r != NATIVE_OK) {
            flow_builder_done(&builder);
            return r;
        }
        if (!found.is_found) break;
        flow_builder_range(&builder, subject, done, (uint32_t)found.captures[0]);
        substitute(&builder, regexp, subject, template, &found);
        done = (uint32_t)found.captures[1];
        last_index = done;
        start = next_start(subject, &found, flags & REGEXP_UNICODE);
        flow_regexp_found_done(&found);
        if (!is_global || builder.is_too_long) break;
    }
    flow_builder_range(&builder, subject, done, length);
    FlowString *result = flow_builder_finish(&builder);
    if (!result) return NATIVE_THROW;
    if (flags & (REGEXP_GLOBAL | REGEXP_STICKY) &&
        !flow_regexp_set_last_index(vm, regexp, is_global ? 0 : last_index)) {
        return NATIVE_THROW;
    }
    return flow_native_string(call, result);
}

// `template_index`: the argument that says what to put in.
static FlowNativeResult replace_with(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *regexp,
                                     FlowString *subject, int template_index) {
    FlowValue replacement = flow_argument(call, (uint32_t)template_index);
    if (flow_is_callable(replacement)) {
        FlowValue arguments[] = {flow_from_object(regexp), flow_from_string(subject), replacement};
        return flow_native_prelude(vm, call, "RegExp_replaceByFunction", arguments, 3);
    }
    FlowString *template;
    TRY_NATIVE(flow_argument_string(vm, call, template_index, &template));
    return replace(vm, call, regexp, subject, template);
}

FlowNativeResult flow_regexp_symbol_replace(FlowVm *vm, FlowNativeCall *call) {
    if (!flow_regexp_is_pristine(vm, *call->this_value)) return flow_native_slow(vm, call);
    FlowString *subject;
    TRY_NATIVE(flow_argument_string(vm, call, 0, &subject));
    // Converting an argument may have run script code.
    if (!flow_regexp_is_pristine(vm, *call->this_value)) return flow_native_slow(vm, call);
    return replace_with(vm, call, flow_as_pointer(*call->this_value), subject, 1);
}

FlowNativeResult flow_string_replace_regexp(FlowVm *vm, FlowNativeCall *call) {
    FlowString *subject;
    TRY_NATIVE(flow_this_string(vm, call, "String.prototype.replace", &subject));
    return replace_with(vm, call, flow_as_pointer(flow_argument(call, 0)), subject, 1);
}

// The arguments that a replacing function gets for one match.
static FlowArray *function_arguments(FlowVm *vm, FlowSlotObject *regexp, FlowString *subject,
                                     const RegexpFound *found) {
    FlowArray *arguments = flow_array_new(vm, found->capture_count + 4);
    for (uint32_t i = 0; i <= found->capture_count; i++) {
        int32_t start = found->captures[2 * i];
        FlowValue text = FLOW_UNDEFINED;
        if (start >= 0) {
            text = flow_from_string(flow_string_substring(vm, subject, (uint32_t)start,
                                                          (uint32_t)found->captures[2 * i + 1]));
        }
        flow_array_push(vm, arguments, text);
    }
    flow_array_push(vm, arguments, flow_int(found->captures[0]));
    flow_array_push(vm, arguments, flow_from_string(subject));
    FlowValue groups = flow_regexp_groups(vm, regexp, subject, found);
    if (!flow_is_undefined(groups)) flow_array_push(vm, arguments, groups);
    return arguments;
}

static uint32_t captured_units(const RegexpFound *found) {
    uint32_t total = 0;
    for (uint32_t i = 0; i <= found->capture_count; i++) {
        if (found->captures[2 * i] < 0) continue;
        total += (uint32_t)(found->captures[2 * i + 1] - found->captures[2 * i]) + 32;
    }
    return total;
}

// %regexpMatches(regexp, string): for each match that replace would see, its start, its end and
// the array of arguments for the function; all in one flat array.
FlowNativeResult flow_regexp_intrinsic_matches(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *regexp = flow_as_pointer(flow_argument(call, 0));
    FlowString *subject = flow_string_flat(vm, flow_as_string(flow_argument(call, 1)));
    uint32_t flags = flow_regexp_flags(regexp);
    bool is_global = flags & REGEXP_GLOBAL;
    double from = is_global || !(flags & REGEXP_STICKY) ? 0 : flow_regexp_last_index(vm, regexp);
    FlowArray *matches = flow_array_new(vm, 0);
    uint32_t last_index = 0;
    uint32_t length = flow_string_length(subject);
    RegexpSearch search = flow_regexp_search(vm, regexp, subject);
    for (uint32_t start = from <= length ? (uint32_t)from : length + 1; start <= length;) {
        RegexpFound found;
        TRY_NATIVE(flow_regexp_find(&search, start, &found));
        if (!found.is_found) break;
        FlowNativeResult r = need_room(vm, call, captured_units(&found) + 64);
        if (r == NATIVE_OK) {
            flow_array_push(vm, matches, flow_int(found.captures[0]));
            flow_array_push(vm, matches, flow_int(found.captures[1]));
            FlowArray *arguments = function_arguments(vm, regexp, subject, &found);
            flow_array_push(vm, matches, flow_from_object(arguments));
        }
        last_index = (uint32_t)found.captures[1];
        start = next_start(subject, &found, flags & REGEXP_UNICODE);
        flow_regexp_found_done(&found);
        if (r != NATIVE_OK) return r;
        if (!is_global) break;
        if (matches->length >= vm->limits.array_length) return too_many(vm);
    }
    if (flags & (REGEXP_GLOBAL | REGEXP_STICKY) &&
        !flow_regexp_set_last_index(vm, regexp, is_global ? 0 : last_index)) {
        return NATIVE_THROW;
    }
    return flow_native_return(call, flow_from_object(matches));
}

// --- split

typedef struct Splitter {
    FlowVm *vm;
    FlowNativeCall *call;
    FlowString *subject;
    FlowArray *pieces;
    uint32_t limit;
} Splitter;

static FlowNativeResult put_piece(Splitter *s, int32_t start, int32_t end) {
    FlowValue text = FLOW_UNDEFINED;
    uint32_t units = start < 0 ? 0 : (uint32_t)(end - start);
    TRY_NATIVE(need_room(s->vm, s->call, units));
    if (s->pieces->length >= s->vm->limits.array_length) return too_many(s->vm);
    if (start >= 0) {
        text = flow_from_string(
            flow_string_substring(s->vm, s->subject, (uint32_t)start, (uint32_t)end));
    }
    flow_array_push(s->vm, s->pieces, text);
    return NATIVE_OK;
}

// The piece before a match, and its captures.
static FlowNativeResult put_match(Splitter *s, uint32_t piece_start, const RegexpFound *found) {
    TRY_NATIVE(put_piece(s, (int32_t)piece_start, found->captures[0]));
    for (uint32_t i = 1; i <= found->capture_count && s->pieces->length < s->limit; i++) {
        TRY_NATIVE(put_piece(s, found->captures[2 * i], found->captures[2 * i + 1]));
    }
    return NATIVE_OK;
}

static FlowNativeResult split(Splitter *s, FlowSlotObject *regexp) {
    bool is_unicode = flow_regexp_flags(regexp) & REGEXP_UNICODE;
    uint32_t length = flow_string_length(s->subject);
    uint32_t piece = 0; // where the piece that is still open begins
    RegexpFound found;
    RegexpSearch search = flow_regexp_search(s->vm, regexp, s->subject);
    if (length == 0) {
        TRY_NATIVE(flow_regexp_find(&search, 0, &found));
        if (!found.is_found) return put_piece(s, 0, 0);
        flow_regexp_found_done(&found);
        return NATIVE_OK;
    }
    for (uint32_t at = 0; at < length;) {
        TRY_NATIVE(flow_regexp_find(&search, at, &found));
        if (!found.is_found && !(flow_regexp_flags(regexp) & REGEXP_STICKY)) break;
        if (!found.is_found) { // split looks everywhere, whatever y says
            at = flow_regexp_advance(s->subject, at, is_unicode);
            continue;
        }
        uint32_t start = (uint32_t)found.captures[0];
        uint32_t end = (uint32_t)found.captures[1];
        FlowNativeResult r = NATIVE_OK;
        bool is_cut = start < length && end != piece;
        if (is_cut) {
            r = put_match(s, piece, &found);
            piece = end;
            at = end;
        } else {
            at = flow_regexp_advance(s->subject, start, is_unicode);
        }
        flow_regexp_found_done(&found);
        if (r != NATIVE_OK || s->pieces->length >= s->limit) return r;
    }
    return put_piece(s, (int32_t)piece, (int32_t)length);
}

static FlowNativeResult split_by(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *regexp,
                                 FlowString *subject) {
    uint32_t limit = UINT32_MAX;
    if (!flow_is_undefined(flow_argument(call, 1))) {
        double number;
        TRY_NATIVE(flow_argument_number(vm, call, 1, &number));
        limit = (uint32_t)flow_double_to_int32(number);
    }
    Splitter splitter = {vm, call, subject, flow_array_new(vm, 0), limit};
    if (limit > 0) TRY_NATIVE(split(&splitter, regexp));
    return flow_native_return(call, flow_from_object(splitter.pieces));
}

FlowNativeResult flow_regexp_symbol_split(FlowVm *vm, FlowNativeCall *call) {
    return on_this(vm, call, split_by);
}

FlowNativeResult flow_string_split_regexp(FlowVm *vm, FlowNativeCall *call) {
    FlowString *subject;
    TRY_NATIVE(flow_this_string(vm, call, "String.prototype.split", &subject));
    return split_by(vm, call, flow_as_pointer(flow_argument(call, 0)), subject);
}

// --- matchAll

enum { ITERATOR_GLOBAL = 1, ITERATOR_UNICODE = 2, ITERATOR_DONE = 4 };

static FlowValue iterator_new(FlowVm *vm, FlowValue regexp, FlowString *subject, int32_t bits) {
    FlowSlotObject *iterator =
        flow_slot_object_new(vm, KIND_ITERATOR, vm->realm->protos[PROTO_REGEXP_STRING_ITERATOR]);
    iterator->internal[0] = regexp;
    iterator->internal[1] = flow_from_string(subject);
    iterator->internal[2] = flow_int(ITERATOR_REGEXP_STRING);
    iterator->internal[3] = flow_int(bits);
    return flow_from_object(iterator);
}

static FlowNativeResult match_all(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *regexp,
                                  FlowString *subject) {
    uint32_t flags = flow_regexp_flags(regexp);
    FlowObject *copy = flow_regexp_new(vm, flow_as_string(regexp->internal[0]),
                                       flow_as_string(regexp->internal[1]));
    if (!copy) return NATIVE_THROW;
    flow_regexp_set_last_index(vm, (FlowSlotObject *)copy, flow_regexp_last_index(vm, regexp));
    int32_t bits = (flags & REGEXP_GLOBAL ? ITERATOR_GLOBAL : 0) |
                   (flags & REGEXP_UNICODE ? ITERATOR_UNICODE : 0);
    return flow_native_return(call, iterator_new(vm, flow_from_object(copy), subject, bits));
}

FlowNativeResult flow_regexp_symbol_match_all(FlowVm *vm, FlowNativeCall *call) {
    return on_this(vm, call, match_all);
}

FlowNativeResult flow_string_match_all_native(FlowVm *vm, FlowNativeCall *call) {
    FlowValue pattern = flow_argument(call, 0);
    if (!flow_regexp_is_pristine(vm, pattern) ||
        !(flow_regexp_flags(flow_as_pointer(pattern)) & REGEXP_GLOBAL)) {
        return flow_native_slow(vm, call);
    }
    FlowString *subject;
    TRY_NATIVE(flow_this_string(vm, call, "String.prototype.matchAll", &subject));
    return match_all(vm, call, flow_as_pointer(pattern), subject);
}

// %regexpStringIterator(regexp, string, isGlobal, isUnicode)
FlowNativeResult flow_regexp_intrinsic_iterator(FlowVm *vm, FlowNativeCall *call) {
    int32_t bits = (flow_is_true(flow_argument(call, 2)) ? ITERATOR_GLOBAL : 0) |
                   (flow_is_true(flow_argument(call, 3)) ? ITERATOR_UNICODE : 0);
    FlowString *subject = flow_as_string(flow_argument(call, 1));
    return flow_native_return(call, iterator_new(vm, flow_argument(call, 0), subject, bits));
}

static FlowSlotObject *iterator_of(FlowVm *vm, FlowValue receiver) {
    FlowSlotObject *iterator = flow_as_pointer(receiver);
    if (flow_is_kind(receiver, KIND_ITERATOR) &&
        flow_same_bits(iterator->internal[2], flow_int(ITERATOR_REGEXP_STRING))) {
        return iterator;
    }
    char text[FLOW_TEXT_MAX];
    flow_throw_type(vm,
                    "Method %%RegExpStringIterator%%.prototype.next called on incompatible "
                    "receiver %s",
                    flow_describe(vm, receiver, text));
    return NULL;
}

// %regexpIteratorState(iterator, which): 0 regexp, 1 string, 3 bits.
FlowNativeResult flow_regexp_intrinsic_iterator_state(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *iterator = iterator_of(vm, flow_argument(call, 0));
    if (!iterator) return NATIVE_THROW;
    return flow_native_return(call, iterator->internal[flow_as_int(flow_argument(call, 1))]);
}

FlowNativeResult flow_regexp_intrinsic_iterator_end(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *iterator = iterator_of(vm, flow_argument(call, 0));
    if (!iterator) return NATIVE_THROW;
    iterator->internal[3] = flow_int(ITERATOR_DONE);
    return NATIVE_OK;
}

static FlowNativeResult iterator_result(FlowVm *vm, FlowNativeCall *call, FlowValue value,
                                        bool is_done) {
    FlowObject *result = flow_object_plain(vm);
    flow_object_put(vm, result, FLOW_KEY(vm, value), value);
    flow_object_put(vm, result, FLOW_KEY(vm, done), flow_bool(is_done));
    return flow_native_return(call, flow_from_object(result));
}

static FlowNativeResult iterator_next(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *iterator = iterator_of(vm, *call->this_value);
    if (!iterator) return NATIVE_THROW;
    int32_t bits = flow_as_int(iterator->internal[3]);
    if (bits & ITERATOR_DONE) return iterator_result(vm, call, FLOW_UNDEFINED, true);
    FlowValue regexp_value = iterator->internal[0];
    if (!flow_regexp_is_pristine(vm, regexp_value)) return flow_native_slow(vm, call);
    FlowSlotObject *regexp = flow_as_pointer(regexp_value);
    FlowString *subject = flow_string_flat(vm, flow_as_string(iterator->internal[1]));
    TRY_NATIVE(flow_regexp_exec(vm, call, regexp, subject, flow_regexp_last_index(vm, regexp)));
    if (flow_is_null(call->result)) {
        iterator->internal[3] = flow_int(ITERATOR_DONE);
        return iterator_result(vm, call, FLOW_UNDEFINED, true);
    }
    FlowValue first = flow_object_element(vm, flow_as_object(call->result), 0);
    if (!(bits & ITERATOR_GLOBAL)) {
        iterator->internal[3] = flow_int(ITERATOR_DONE);
    } else if (flow_string_length(flow_as_string(first)) == 0) {
        uint32_t index = (uint32_t)flow_regexp_last_index(vm, regexp);
        flow_regexp_set_last_index(vm, regexp,
                                   flow_regexp_advance(subject, index, bits & ITERATOR_UNICODE));
    }
    return iterator_result(vm, call, call->result, false);
}

static const FlowNativeEntry iterator_members[] = {
    NATIVE_SLOW("next", iterator_next, "RegExpStringIterator_next", 0),
    NATIVE_END,
};

const FlowClassEntry flow_class_regexp_string_iterator = {
    .name = "%RegExpStringIterator",
    .members = iterator_members,
    .parent = "%Iterator",
    .tag = "RegExp String Iterator",
    .kind = KIND_OBJECT,
    .proto_id = 1 + PROTO_REGEXP_STRING_ITERATOR,
};
