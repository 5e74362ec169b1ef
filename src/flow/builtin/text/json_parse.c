// JSON.parse: text straight into values, with a stack of its own instead of recursion.
//
// It reads the units of the script's string, Latin-1 or UTF-16, not the UTF-8 of json/read.h: no
// copy of the text is made, positions in messages count UTF-16 units as scripts expect, and depth
// is bounded by the heap budget rather than by the limit for requests.
//
//   [json-parse-1] Nothing is visible to the script before the whole text was read.
//   [json-parse-2] Messages are those of V8 in Node 20; `fault` says which, `at` is where.
#include "base/array.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"

typedef enum JsonFault {
    FAULT_NONE,
    FAULT_TOKEN, // depends on what stands there
    FAULT_FIRST_KEY,
    FAULT_NEXT_KEY,
    FAULT_COLON,
    FAULT_AFTER_ITEM,
    FAULT_AFTER_MEMBER,
    FAULT_AFTER_VALUE,
    FAULT_UNTERMINATED,
    FAULT_CONTROL,
    FAULT_ESCAPE,
    FAULT_UNICODE,
    FAULT_MINUS,
    FAULT_FRACTION,
    FAULT_EXPONENT,
    FAULT_MEMORY,
} JsonFault;

static const char *const fault_texts[] = {
    [FAULT_FIRST_KEY] = "Expected property name or '}' in JSON",
    [FAULT_NEXT_KEY] = "Expected double-quoted property name in JSON",
    [FAULT_COLON] = "Expected ':' after property name in JSON",
    [FAULT_AFTER_ITEM] = "Expected ',' or ']' after array element in JSON",
    [FAULT_AFTER_MEMBER] = "Expected ',' or '}' after property value in JSON",
    [FAULT_AFTER_VALUE] = "Unexpected non-whitespace character after JSON",
    [FAULT_UNTERMINATED] = "Unterminated string in JSON",
    [FAULT_CONTROL] = "Bad control character in string literal in JSON",
    [FAULT_ESCAPE] = "Bad escaped character in JSON",
    [FAULT_UNICODE] = "Bad Unicode escape in JSON",
    [FAULT_MINUS] = "No number after minus sign in JSON",
    [FAULT_FRACTION] = "Unterminated fractional number in JSON",
    [FAULT_EXPONENT] = "Exponent part is missing a number in JSON",
};

enum { KEY_CACHE_SIZE = 128, ROOM_CHECK_EVERY = 64, CONTEXT_UNITS = 10 };

typedef struct JsonLevel {
    FlowObject *container; // array or object
    FlowKey key;           // objects: of the member that is being read
} JsonLevel;

typedef struct JsonParser {
    FlowVm *vm;
    FlowString *text;      // flat
    const uint8_t *latin1; // NULL when the text is wide
    const uint16_t *wide;
    uint32_t at;
    uint32_t end;
    JsonFault fault;
    JsonLevel *levels;
    uint32_t depth;
    uint32_t capacity;
    uint32_t countdown; // values until the heap budget is looked at again
    uint16_t *scratch;  // for strings with escapes
    uint32_t scratch_capacity;
    FlowKey cache[KEY_CACHE_SIZE]; // keys that were seen, by a hash of length and ends
} JsonParser;

static inline uint32_t unit(const JsonParser *p, uint32_t i) {
    return p->latin1 ? p->latin1[i] : p->wide[i];
}

static bool fail(JsonParser *p, JsonFault fault) {
    p->fault = fault;
    return false;
}

static inline void skip_space(JsonParser *p) {
    while (p->at < p->end) {
        uint32_t c = unit(p, p->at);
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return;
        p->at++;
    }
}

static bool is_digit_at(const JsonParser *p, uint32_t i) {
    return i < p->end && unit(p, i) >= '0' && unit(p, i) <= '9';
}

// --- numbers

static FlowValue number_value(JsonParser *p, uint32_t start) {
    uint32_t length = p->at - start;
    double value = 0;
    if (p->latin1) {
        bool is_negative = p->latin1[start] == '-';
        number_parse((const char *)p->latin1 + start + is_negative, length - is_negative, &value);
        return flow_number(is_negative ? -value : value);
    }
    char small[64];
    char *text = length < sizeof small ? small : mem_alloc(length);
    for (uint32_t i = 0; i < length; i++) text[i] = (char)p->wide[start + i];
    bool is_negative = text[0] == '-';
    number_parse(text + is_negative, length - is_negative, &value);
    if (text != small) mem_free(text);
    return flow_number(is_negative ? -value : value);
}

static bool parse_number(JsonParser *p, FlowValue *ret) {
    uint32_t start = p->at;
    bool is_negative = unit(p, p->at) == '-';
    if (is_negative && !is_digit_at(p, ++p->at)) return fail(p, FAULT_MINUS);
    uint32_t first = p->at;
    int64_t integer = 0;
    while (is_digit_at(p, p->at)) {
        if (p->at - first < 15) integer = integer * 10 + (int64_t)(unit(p, p->at) - '0');
        p->at++;
    }
    uint32_t digits = p->at - first;
    if (digits > 1 && unit(p, first) == '0') {
        p->at = first + 1;
        return fail(p, FAULT_TOKEN);
    }
    bool is_integer = true;
    if (p->at < p->end && unit(p, p->at) == '.') {
        is_integer = false;
        if (!is_digit_at(p, ++p->at)) return fail(p, FAULT_FRACTION);
        while (is_digit_at(p, p->at)) p->at++;
    }
    if (p->at < p->end && (unit(p, p->at) | 0x20) == 'e') {
        is_integer = false;
        p->at++;
        if (p->at < p->end && (unit(p, p->at) == '+' || unit(p, p->at) == '-')) p->at++;
        if (!is_digit_at(p, p->at)) return fail(p, FAULT_EXPONENT);
        while (is_digit_at(p, p->at)) p->at++;
    }
    if (is_integer && digits <= 15) {
        *ret = flow_number(is_negative ? -(double)integer : (double)integer);
    } else {
        *ret = number_value(p, start);
    }
    return true;
}

// --- strings

static void scratch_reserve(JsonParser *p, uint32_t count) {
    if (count <= p->scratch_capacity) return;
    uint32_t capacity = p->scratch_capacity * 2 > count ? p->scratch_capacity * 2 : count + 64;
    p->scratch = mem_realloc(p->scratch, capacity * sizeof *p->scratch);
    p->scratch_capacity = capacity;
}

static bool parse_unicode(JsonParser *p, uint16_t *ret) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        uint32_t c = p->at < p->end ? unit(p, p->at) : 0;
        uint32_t digit = c >= '0' && c <= '9'                     ? c - '0'
                         : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                                  : 16;
        if (digit == 16) return fail(p, FAULT_UNICODE);
        value = value << 4 | digit;
    }
    *ret = (uint16_t)value;
    return true;
}

// Behind a backslash.
static bool parse_escape(JsonParser *p, uint16_t *ret) {
    if (p->at == p->end) return fail(p, FAULT_TOKEN);
    uint32_t c = unit(p, p->at);
    switch (c) {
    case '"':
    case '\\':
    case '/': *ret = (uint16_t)c; break;
    case 'b': *ret = '\b'; break;
    case 'f': *ret = '\f'; break;
    case 'n': *ret = '\n'; break;
    case 'r': *ret = '\r'; break;
    case 't': *ret = '\t'; break;
    case 'u': p->at++; return parse_unicode(p, ret);
    default: return fail(p, FAULT_ESCAPE);
    }
    p->at++;
    return true;
}

// The rest of a string from its first escape on; [start, at) is plain.
static bool scan_escaped(JsonParser *p, uint32_t start, uint32_t *ret_count) {
    uint32_t count = p->at - start;
    scratch_reserve(p, count + 64);
    for (uint32_t i = 0; i < count; i++) p->scratch[i] = (uint16_t)unit(p, start + i);
    while (p->at < p->end) {
        uint32_t c = unit(p, p->at);
        if (c == '"') {
            *ret_count = count;
            return true;
        }
        if (c < 0x20) return fail(p, FAULT_CONTROL);
        p->at++;
        scratch_reserve(p, count + 1);
        uint16_t value = (uint16_t)c;
        if (c == '\\' && !parse_escape(p, &value)) return false;
        p->scratch[count++] = value;
    }
    return fail(p, FAULT_UNTERMINATED);
}

typedef struct JsonText { // the content of a string in the text
    uint32_t start;
    uint32_t count;
    bool is_scratch; // it is in p->scratch, from 0 on
} JsonText;

// From the opening quote to behind the closing one.
static bool scan_string(JsonParser *p, JsonText *ret) {
    uint32_t start = ++p->at;
    uint32_t i = start;
    uint32_t c = 0;
    while (i < p->end) {
        c = unit(p, i);
        if (c == '"' || c == '\\' || c < 0x20) break;
        i++;
    }
    p->at = i;
    if (i == p->end) return fail(p, FAULT_UNTERMINATED);
    *ret = (JsonText){start, i - start, false};
    if (c != '"') {
        if (c != '\\') return fail(p, FAULT_CONTROL);
        if (!scan_escaped(p, start, &ret->count)) return false;
        ret->is_scratch = true;
    }
    p->at++;
    return true;
}

static FlowString *make_string(JsonParser *p, const JsonText *text) {
    if (text->is_scratch) return flow_string_utf16(p->vm, p->scratch, text->count);
    if (p->latin1) return flow_string_latin1(p->vm, p->latin1 + text->start, text->count);
    return flow_string_utf16(p->vm, p->wide + text->start, text->count);
}

// A key that was seen before is found without making a string.
static FlowKey make_key(JsonParser *p, const JsonText *text) {
    if (!p->latin1 || text->is_scratch || text->count == 0) {
        return flow_key_string(p->vm, make_string(p, text));
    }
    const uint8_t *units = p->latin1 + text->start;
    uint32_t count = text->count;
    uint32_t hash = count * 31 + units[0] * 7u + units[count - 1] * 131u + units[count / 2] * 17u;
    FlowKey *cached = &p->cache[hash % KEY_CACHE_SIZE];
    if (cached->bits) {
        FlowString *atom = flow_as_string((FlowValue){cached->bits});
        bool is_same = flow_string_length(atom) == count && !flow_string_is_wide(atom) &&
                       memcmp(atom->latin1, units, count) == 0;
        if (is_same) return *cached;
    }
    FlowKey key = flow_key_string(p->vm, make_string(p, text));
    if (!flow_key_is_index(key)) *cached = key;
    return key;
}

// --- values

static bool parse_literal(JsonParser *p, const char *word, FlowValue value, FlowValue *ret) {
    for (; *word; word++, p->at++) {
        if (p->at == p->end || unit(p, p->at) != (uint8_t)*word) return fail(p, FAULT_TOKEN);
    }
    *ret = value;
    return true;
}

static bool open_container(JsonParser *p, FlowObject *container) {
    if (p->depth == p->capacity) {
        p->capacity = p->capacity ? p->capacity * 2 : 16;
        p->levels = mem_realloc(p->levels, p->capacity * sizeof *p->levels);
    }
    p->levels[p->depth++] = (JsonLevel){container, {0}};
    p->at++;
    return true;
}

// The key of the next member and its colon.
static bool parse_key(JsonParser *p, bool is_first) {
    skip_space(p);
    if (p->at == p->end || unit(p, p->at) != '"') {
        return fail(p, is_first ? FAULT_FIRST_KEY : FAULT_NEXT_KEY);
    }
    JsonText text;
    if (!scan_string(p, &text)) return false;
    p->levels[p->depth - 1].key = make_key(p, &text);
    skip_space(p);
    if (p->at == p->end || unit(p, p->at) != ':') {
        return fail(p, is_first ? FAULT_COLON : FAULT_TOKEN);
    }
    p->at++;
    return true;
}

typedef enum JsonStep {
    STEP_VALUE,  // *ret is a whole value
    STEP_OPENED, // a container was opened and its first value comes next
    STEP_FAILED,
} JsonStep;

static JsonStep step_of(bool is_ok) { return is_ok ? STEP_VALUE : STEP_FAILED; }

static JsonStep parse_container(JsonParser *p, bool is_array, FlowValue *ret) {
    FlowObject *container = is_array ? &flow_array_new(p->vm, 0)->object : flow_object_plain(p->vm);
    open_container(p, container);
    skip_space(p);
    if (p->at < p->end && unit(p, p->at) == (is_array ? ']' : '}')) {
        p->at++;
        p->depth--;
        *ret = flow_from_object(container);
        return STEP_VALUE;
    }
    if (is_array) return STEP_OPENED;
    return parse_key(p, true) ? STEP_OPENED : STEP_FAILED;
}

static JsonStep parse_value(JsonParser *p, FlowValue *ret) {
    skip_space(p);
    if (p->at == p->end) return step_of(fail(p, FAULT_TOKEN));
    if (--p->countdown == 0) {
        p->countdown = ROOM_CHECK_EVERY;
        if (!flow_heap_has_room(&p->vm->heap, 0)) return step_of(fail(p, FAULT_MEMORY));
    }
    switch (unit(p, p->at)) {
    case '"': {
        JsonText text;
        if (!scan_string(p, &text)) return STEP_FAILED;
        *ret = flow_from_string(make_string(p, &text));
        return STEP_VALUE;
    }
    case '{': return parse_container(p, false, ret);
    case '[': return parse_container(p, true, ret);
    case 't': return step_of(parse_literal(p, "true", FLOW_TRUE, ret));
    case 'f': return step_of(parse_literal(p, "false", FLOW_FALSE, ret));
    case 'n': return step_of(parse_literal(p, "null", FLOW_NULL, ret));
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return step_of(parse_number(p, ret));
    default: return step_of(fail(p, FAULT_TOKEN));
    }
}

static void add_member(JsonParser *p, FlowObject *object, FlowKey key, FlowValue value) {
    uint32_t slot;
    uint32_t attributes;
    if (flow_key_is_index(key)) {
        flow_elements_append(p->vm, object, flow_key_as_index(key), value);
    } else if (flow_shape_find(object->shape, key, &slot, &attributes)) {
        object->slots[slot] = value; // a repeated key: the last one counts
    } else {
        flow_object_add_computed(p->vm, object, key, value, PROPERTY_DEFAULT);
    }
}

// Puts a whole value where it belongs and closes what ends behind it. STEP_VALUE: *value is the
// outermost one; STEP_OPENED: another value comes next.
static JsonStep attach(JsonParser *p, FlowValue *value) {
    while (p->depth) {
        JsonLevel *level = &p->levels[p->depth - 1];
        bool is_array = level->container->cell.kind == KIND_ARRAY;
        if (is_array) flow_array_push(p->vm, (FlowArray *)level->container, *value);
        else add_member(p, level->container, level->key, *value);
        skip_space(p);
        uint32_t c = p->at < p->end ? unit(p, p->at) : 0;
        if (c == ',') {
            p->at++;
            return is_array || parse_key(p, false) ? STEP_OPENED : STEP_FAILED;
        }
        if (c != (is_array ? ']' : '}')) {
            return step_of(fail(p, is_array ? FAULT_AFTER_ITEM : FAULT_AFTER_MEMBER));
        }
        p->at++;
        *value = flow_from_object(level->container);
        p->depth--;
    }
    return STEP_VALUE;
}

static bool parse_text(JsonParser *p, FlowValue *ret) {
    JsonStep step = STEP_OPENED;
    while (step == STEP_OPENED) {
        step = parse_value(p, ret);
        if (step == STEP_VALUE) step = attach(p, ret);
    }
    if (step == STEP_FAILED) return false;
    skip_space(p);
    return p->at == p->end || fail(p, FAULT_AFTER_VALUE);
}

// --- faults as messages [json-parse-2]

static bool is_special_text(const JsonParser *p) {
    static const char *const texts[] = {"NaN", "Infinity", "undefined", "[object Object]"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (flow_string_equals_ascii(p->vm, p->text, texts[i])) return true;
    }
    return false;
}

static void describe_token(const JsonParser *p, FlowStringBuilder *out) {
    uint32_t start = 0;
    uint32_t end = p->end;
    if (is_special_text(p)) {
        flow_builder_unit(out, '"');
        flow_builder_string(out, p->text);
        flow_builder_ascii(out, "\" is not valid JSON");
        return;
    }
    bool is_long = p->end > 2 * CONTEXT_UNITS;
    if (is_long && p->at >= CONTEXT_UNITS) start = p->at - CONTEXT_UNITS;
    if (is_long && (p->at < CONTEXT_UNITS || p->at < p->end - CONTEXT_UNITS)) {
        end = p->at + CONTEXT_UNITS;
    }
    flow_builder_ascii(out, "Unexpected token '");
    flow_builder_unit(out, (uint16_t)unit(p, p->at));
    flow_builder_ascii(out, "', ");
    flow_builder_ascii(out, start > 0 ? "...\"" : "\"");
    flow_builder_range(out, p->text, start, end);
    flow_builder_ascii(out, end < p->end ? "\"... is not valid JSON" : "\" is not valid JSON");
}

static void describe_fault(const JsonParser *p, FlowStringBuilder *out) {
    const char *text = p->fault == FAULT_TOKEN ? NULL : fault_texts[p->fault];
    if (!text) {
        if (p->at >= p->end) {
            flow_builder_ascii(out, "Unexpected end of JSON input");
            return;
        }
        uint32_t c = unit(p, p->at);
        if (c == '-' || (c >= '0' && c <= '9')) text = "Unexpected number in JSON";
        else if (c == '"') text = "Unexpected string in JSON";
    }
    if (!text) {
        describe_token(p, out);
        return;
    }
    flow_builder_ascii(out, text);
    flow_builder_ascii(out, " at position ");
    flow_builder_string(out, flow_string_number(p->vm, p->at));
}

static FlowNativeResult throw_fault(JsonParser *p, FlowNativeCall *call) {
    if (p->fault == FAULT_MEMORY) return flow_native_room(p->vm, call, p->end);
    FlowStringBuilder out;
    flow_builder_init(&out, p->vm);
    describe_fault(p, &out);
    FlowString *message = flow_builder_finish(&out);
    if (!message) return NATIVE_THROW;
    flow_throw(p->vm, flow_from_object(flow_error_new(p->vm, ERROR_KIND_SYNTAX, message)));
    return NATIVE_THROW;
}

FlowNativeResult flow_json_parse(FlowVm *vm, FlowNativeCall *call) {
    FlowString *text;
    FlowNativeResult result = flow_argument_string(vm, call, 0, &text);
    if (result != NATIVE_OK) return result;
    JsonParser *p = mem_zalloc(sizeof *p);
    p->vm = vm;
    p->text = text;
    p->end = flow_string_length(text);
    p->countdown = ROOM_CHECK_EVERY;
    if (flow_string_is_wide(text)) p->wide = text->wide;
    else p->latin1 = text->latin1;
    flow_native_charge(vm, (uint64_t)p->end * 8);
    FlowValue value = FLOW_UNDEFINED;
    if (!parse_text(p, &value)) result = throw_fault(p, call);
    mem_free(p->levels);
    mem_free(p->scratch);
    mem_free(p);
    if (result != NATIVE_OK) return result;
    if (flow_is_callable(flow_argument(call, 1))) {
        FlowValue arguments[2] = {value, call->arguments[1]};
        return flow_native_prelude(vm, call, "jsonRevive", arguments, 2);
    }
    return flow_native_return(call, value);
}
