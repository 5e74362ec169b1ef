// How console shows values: the simple cases of Node's util.inspect. See the header for what is
// different.
//
// Each object's parts are written as texts of their own first, then joined on one line or one
// per line, as their lengths allow.
//
//   [console-format-1] Recursion ends at INSPECT_DEPTH_MAX levels, so the C stack is safe.
//   [console-format-2] No script code runs: accessors are shown as [Getter], errors by their stack.
//   [console-format-3] After INSPECT_TEXT_MAX bytes, or when the call has used up far more than its
//        turn, nothing is added any more: the line ends long before, and a value that is met a
//        thousand times in a thousand others must take neither time nor memory for each.
#include "flow/builtin/console_format.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"
#include "flow/builtin/text/date.h"
#include "flow/mask/mask.h"
#include "flow/value/object_layout.h"
#include "flow/vm/promise.h"
#include "flow/vm/vm.h"

enum {
    INSPECT_DEPTH_MAX = 2, // levels below the outermost object
    INSPECT_LINE_MAX = 72,
    INSPECT_ITEMS_MAX = 100,
    INSPECT_COMPACT = 3, // levels of nesting that may share a line
    INSPECT_PART_MAX = 1 << 16,
    INSPECT_PART_WORK = 4096,
    INSPECT_TEXT_MAX = 4 << 20, // of all parts; a line has at most 1 MiB
    INSPECT_OPEN_MAX = INSPECT_DEPTH_MAX + 2,
    INSPECT_CIRCLES_MAX = 8,
};

typedef struct Inspector {
    FlowVm *vm;
    const FlowObject *open[INSPECT_OPEN_MAX]; // objects being shown, outermost first
    uint32_t depth;
    uint32_t deepest;                               // depth of the object that was begun last
    uint32_t indentation;                           // columns
    const FlowObject *circles[INSPECT_CIRCLES_MAX]; // met again inside themselves: <ref *1> …
    uint32_t circle_count;
    size_t written; // bytes of all parts so far [console-format-3]
} Inspector;

typedef struct Parts { // of one object
    Buf *items;
    uint32_t count;
    uint32_t capacity;
} Parts;

static void inspect_value(Inspector *self, Buf *out, FlowValue value);

// [console-format-3] Asked before each part; counts the one before.
static bool has_room(Inspector *self, const Parts *parts) {
    flow_native_charge(self->vm, INSPECT_PART_WORK);
    if (parts->count) self->written += parts->items[parts->count - 1].len;
    return self->written < INSPECT_TEXT_MAX && !flow_native_is_overdrawn(self->vm);
}

static Buf *parts_add(Parts *parts) {
    if (parts->count == parts->capacity) {
        parts->capacity = parts->capacity ? parts->capacity * 2 : 8;
        parts->items = mem_realloc(parts->items, parts->capacity * sizeof *parts->items);
    }
    Buf *item = &parts->items[parts->count++];
    buf_init(item, INSPECT_PART_MAX);
    return item;
}

static void parts_done(Parts *parts) {
    for (uint32_t i = 0; i < parts->count; i++) buf_done(&parts->items[i]);
    mem_free(parts->items);
}

// --- primitives

// In single quotes, or others when the text has single quotes but not those.
static void inspect_string(FlowVm *vm, Buf *out, FlowString *s) {
    FlowString *flat = flow_string_flat(vm, s);
    uint32_t length = flow_string_length(flat);
    flow_native_charge(vm, length);
    bool has_single = false;
    bool has_double = false;
    bool has_back = false;
    for (uint32_t i = 0; i < length; i++) {
        uint16_t c = flow_string_at(flat, i);
        has_single = has_single || c == '\'';
        has_double = has_double || c == '"';
        has_back = has_back || c == '`';
    }
    char quote = !has_single ? '\'' : !has_double ? '"' : !has_back ? '`' : '\'';
    Buf text;
    buf_init(&text, INSPECT_PART_MAX);
    flow_string_to_utf8(vm, flat, &text);
    buf_append_char(out, quote);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == quote || c == '\\') buf_printf(out, "\\%c", c);
        else if (c == '\n') buf_append_cstr(out, "\\n");
        else if (c == '\t') buf_append_cstr(out, "\\t");
        else if (c == '\r') buf_append_cstr(out, "\\r");
        else if (c == '\b') buf_append_cstr(out, "\\b");
        else if (c == '\f') buf_append_cstr(out, "\\f");
        else if ((unsigned char)c < 0x20 || c == 0x7f) buf_printf(out, "\\x%02X", (unsigned)c);
        else buf_append_char(out, c);
    }
    buf_append_char(out, quote);
    buf_done(&text);
}

static void inspect_primitive(FlowVm *vm, Buf *out, FlowValue value) {
    char text[FLOW_TEXT_MAX];
    if (flow_is_string(value)) {
        inspect_string(vm, out, flow_as_string(value));
    } else if (flow_is_number(value)) {
        double number = flow_as_number(value);
        char digits[NUMBER_TEXT_MAX];
        if (number == 0 && signbit(number)) buf_append_cstr(out, "-0");
        else buf_append(out, digits, number_format(number, digits));
    } else if (flow_is_bigint(value)) {
        flow_string_to_utf8(vm, flow_bigint_to_string(vm, flow_as_bigint(value), 10), out);
        buf_append_char(out, 'n');
    } else {
        buf_append_cstr(out, flow_describe(vm, value, text));
    }
}

// --- what stands before the braces

static void append_value_text(FlowVm *vm, Buf *out, FlowValue text) {
    if (flow_is_string(text)) flow_string_to_utf8(vm, flow_as_string(text), out);
}

// The name of the constructor.
static void append_class(Inspector *self, Buf *out, FlowObject *object) {
    FlowVm *vm = self->vm;
    FlowValue constructor = flow_object_get_data(vm, object, FLOW_KEY(vm, constructor));
    if (!flow_is_callable(constructor)) {
        buf_append_cstr(out, "[Object: null prototype]");
        return;
    }
    append_value_text(vm, out,
                      flow_object_get_data(vm, flow_as_object(constructor), FLOW_KEY(vm, name)));
}

static void append_function(Inspector *self, Buf *out, FlowObject *function) {
    FlowVm *vm = self->vm;
    bool is_class = function->cell.aux & OBJECT_CLASS_CONSTRUCTOR;
    FlowValue name = flow_object_get_data(vm, function, FLOW_KEY(vm, name));
    bool has_name = flow_is_string(name) && flow_string_length(flow_as_string(name));
    const char *type = "Function";
    if (function->cell.kind == KIND_CLOSURE) {
        uint32_t flags = ((const FlowClosure *)function)->routine->flags;
        bool is_async = flags & ROUTINE_ASYNC;
        bool is_generator = flags & ROUTINE_GENERATOR;
        if (is_generator) type = is_async ? "AsyncGeneratorFunction" : "GeneratorFunction";
        else if (is_async) type = "AsyncFunction";
    }
    if (is_class) buf_append_cstr(out, has_name ? "[class " : "[class (anonymous)");
    else buf_printf(out, has_name ? "[%s: " : "[%s (anonymous)", type);
    if (has_name) append_value_text(vm, out, name);
    buf_append_char(out, ']');
}

static void append_boxed(Inspector *self, Buf *out, const char *type, FlowValue primitive) {
    buf_printf(out, "[%s: ", type);
    inspect_primitive(self->vm, out, primitive);
    buf_append_char(out, ']');
}

static void append_date(Buf *out, FlowValue time) {
    double ms = flow_as_number(time);
    char text[DATE_TEXT_MAX];
    if (ms != ms) buf_append_cstr(out, "Invalid Date");
    else buf_append(out, text, date_format(ms, DATE_STYLE_ISO, text));
}

static void append_regexp(FlowVm *vm, Buf *out, const FlowSlotObject *regexp) {
    buf_append_char(out, '/');
    append_value_text(vm, out, regexp->internal[0]);
    buf_append_char(out, '/');
    append_value_text(vm, out, regexp->internal[1]);
}

// Errors by their stack, as Node shows them, unless a script replaced it.
static void append_error(FlowVm *vm, Buf *out, FlowObject *error) {
    FlowProperty stack;
    bool has_stack =
        flow_object_get_own(vm, error, FLOW_KEY(vm, stack), &stack) && flow_is_string(stack.value);
    if (has_stack) {
        append_value_text(vm, out, stack.value);
        return;
    }
    char text[FLOW_TEXT_MAX];
    buf_printf(out, "[%s]", flow_describe(vm, flow_from_object(error), text));
}

// --- parts

static void append_key(Inspector *self, Buf *out, FlowKey key) {
    FlowVm *vm = self->vm;
    if (flow_key_is_symbol(key)) {
        buf_append_char(out, '[');
        inspect_primitive(vm, out, (FlowValue){key.bits});
        buf_append_char(out, ']');
        return;
    }
    FlowString *text = flow_string_flat(vm, flow_as_string(flow_key_to_value(vm, key)));
    bool is_word = flow_string_length(text) > 0 && !flow_key_is_index(key);
    for (uint32_t i = 0; i < flow_string_length(text) && is_word; i++) {
        uint16_t c = flow_string_at(text, i);
        bool is_digit = c >= '0' && c <= '9';
        is_word = (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? c < 128 : c == '_' || (is_digit && i);
    }
    if (is_word) flow_string_to_utf8(vm, text, out);
    else inspect_string(vm, out, text);
}

static void append_property(Inspector *self, Buf *out, const FlowProperty *property) {
    if (property->attributes & PROPERTY_ACCESSOR) {
        bool has_getter = !flow_is_undefined(property->getter);
        bool has_setter = !flow_is_undefined(property->setter);
        buf_append_cstr(out, has_getter && has_setter ? "[Getter/Setter]"
                             : has_getter             ? "[Getter]"
                                                      : "[Setter]");
        return;
    }
    inspect_value(self, out, property->value);
}

// Whether nobody is shown this property.
static bool append_hidden(const Inspector *self, Buf *out, const FlowObject *object, FlowKey key) {
    const FlowMasked *masked = self->vm->masked;
    Str path = masked ? flow_masked_property(masked, object, key) : STR_NULL;
    if (str_is_null(path)) return false;
    buf_printf(out, "[secret %.*s]", STR_ARG(path));
    return true;
}

static void add_elements(Inspector *self, Parts *parts, const FlowArray *array) {
    FlowObject *object = (FlowObject *)(uintptr_t)&array->object;
    uint32_t shown = 0;
    uint32_t i = 0;
    for (; i < array->length && shown < INSPECT_ITEMS_MAX && has_room(self, parts); shown++) {
        FlowProperty element;
        if (flow_object_get_own(self->vm, object, flow_key_index(i), &element)) {
            append_property(self, parts_add(parts), &element);
            i++;
            continue;
        }
        uint32_t next = flow_elements_next(flow_object_body(self->vm, object), i);
        uint32_t holes = (next < array->length ? next : array->length) - i;
        flow_native_charge(self->vm, holes);
        i += holes;
        buf_printf(parts_add(parts), "<%u empty item%s>", holes, holes == 1 ? "" : "s");
    }
    if (i < array->length) {
        uint32_t rest = array->length - i;
        buf_printf(parts_add(parts), "... %u more item%s", rest, rest == 1 ? "" : "s");
    }
}

static void add_entries(Inspector *self, Parts *parts, const FlowSlotObject *collection) {
    FlowTable *table = flow_as_pointer(collection->internal[0]);
    uint32_t shown = 0;
    uint32_t holes;
    for (FlowTableEntry *entry = flow_table_next(table, 0, &holes);
         entry && shown < INSPECT_ITEMS_MAX && has_room(self, parts);
         entry = flow_table_next(table, entry->sequence + 1, &holes), shown++) {
        Buf *out = parts_add(parts);
        inspect_value(self, out, entry->key);
        if (collection->object.cell.kind != KIND_MAP) continue;
        buf_append_cstr(out, " => ");
        bool is_name = flow_is_string(entry->key);
        FlowKey key = {0};
        if (is_name) key = flow_key_string(self->vm, flow_as_string(entry->key));
        bool is_hidden = is_name && append_hidden(self, out, &collection->object, key);
        if (!is_hidden) inspect_value(self, out, entry->value);
    }
    if (table->live_count > shown) {
        uint32_t rest = table->live_count - shown;
        buf_printf(parts_add(parts), "... %u more item%s", rest, rest == 1 ? "" : "s");
    }
}

static void add_promise(Inspector *self, Parts *parts, const FlowPromise *promise) {
    Buf *out = parts_add(parts);
    if (promise->state == PROMISE_PENDING) {
        buf_append_cstr(out, "<pending>");
        return;
    }
    if (promise->state == PROMISE_REJECTED) buf_append_cstr(out, "<rejected> ");
    inspect_value(self, out, promise->result);
}

static void add_properties(Inspector *self, Parts *parts, FlowObject *object) {
    FlowKey key;
    FlowProperty property;
    for (int pass = 0; pass < 2; pass++) {
        FlowOwnCursor cursor = flow_own_cursor(self->vm, object);
        cursor.has_symbols = pass == 1;
        while (flow_own_next(&cursor, &key, &property)) {
            bool is_shown_already =
                flow_key_is_index(key) &&
                (object->cell.kind == KIND_ARRAY || object->cell.kind == KIND_STRING_OBJECT);
            if (is_shown_already) continue;
            if (!has_room(self, parts)) return;
            Buf *out = parts_add(parts);
            append_key(self, out, key);
            buf_append_cstr(out, ": ");
            if (!append_hidden(self, out, object, key)) append_property(self, out, &property);
        }
    }
}

// --- objects

// What stands before the braces; answers whether the object always has braces.
static bool append_head(Inspector *self, Buf *out, FlowObject *object) {
    FlowVm *vm = self->vm;
    const FlowSlotObject *slots = (const FlowSlotObject *)object;
    switch ((FlowKind)object->cell.kind) {
    case KIND_CLOSURE:
    case KIND_NATIVE_FUNCTION:
    case KIND_BOUND_FUNCTION: append_function(self, out, object); return false;
    case KIND_ERROR: append_error(vm, out, object); return false;
    case KIND_DATE: append_date(out, slots->internal[0]); return false;
    case KIND_REGEXP: append_regexp(vm, out, slots); return false;
    case KIND_SECRET: flow_secret_mask(vm, object, out); return false;
    case KIND_NUMBER_OBJECT: append_boxed(self, out, "Number", slots->internal[0]); return false;
    case KIND_STRING_OBJECT: append_boxed(self, out, "String", slots->internal[0]); return false;
    case KIND_BOOLEAN_OBJECT: append_boxed(self, out, "Boolean", slots->internal[0]); return false;
    case KIND_SYMBOL_OBJECT: append_boxed(self, out, "Symbol", slots->internal[0]); return false;
    case KIND_BIGINT_OBJECT: append_boxed(self, out, "BigInt", slots->internal[0]); return false;
    case KIND_ARRAY:
        if (flow_object_proto(vm, object) == vm->realm->protos[PROTO_ARRAY]) return true;
        append_class(self, out, object);
        if (out->len) buf_printf(out, "(%u)", ((const FlowArray *)object)->length);
        return true;
    case KIND_MAP:
    case KIND_SET: {
        append_class(self, out, object);
        const FlowTable *table = flow_as_pointer(slots->internal[0]);
        buf_printf(out, "(%u)", table->live_count);
        return true;
    }
    default:
        if (flow_object_proto(vm, object) == vm->realm->protos[PROTO_OBJECT] &&
            object->cell.kind == KIND_OBJECT) {
            return true;
        }
        append_class(self, out, object);
        return true;
    }
}

static void join_parts(Inspector *self, Buf *out, const Parts *parts, bool is_array) {
    size_t width = parts->count + self->indentation + 1 + 10;
    bool has_break = false;
    for (uint32_t i = 0; i < parts->count; i++) {
        width += parts->items[i].len + 1;
        has_break = has_break || memchr(buf_cstr(&parts->items[i]), '\n', parts->items[i].len);
    }
    bool is_shallow = self->deepest - self->depth < INSPECT_COMPACT;
    bool is_one_line = is_shallow && !has_break && width <= INSPECT_LINE_MAX + 8;
    buf_append_char(out, is_array ? '[' : '{');
    for (uint32_t i = 0; i < parts->count; i++) {
        if (i > 0) buf_append_char(out, ',');
        if (is_one_line) buf_append_char(out, ' ');
        else buf_printf(out, "\n%*s", (int)self->indentation + 2, "");
        buf_append_str(out, buf_str(&parts->items[i]));
    }
    if (is_one_line) buf_append_char(out, ' ');
    else buf_printf(out, "\n%*s", (int)self->indentation, "");
    buf_append_char(out, is_array ? ']' : '}');
}

static bool is_open(const Inspector *self, const FlowObject *object) {
    for (uint32_t i = 0; i < self->depth; i++) {
        if (self->open[i] == object) return true;
    }
    return false;
}

// The number an object has as the start of a circle; 0: none. Gives it one if `is_new`.
static uint32_t circle_number(Inspector *self, const FlowObject *object, bool is_new) {
    for (uint32_t i = 0; i < self->circle_count; i++) {
        if (self->circles[i] == object) return i + 1;
    }
    if (!is_new || self->circle_count == INSPECT_CIRCLES_MAX) return 0;
    self->circles[self->circle_count++] = object;
    return self->circle_count;
}

static void add_parts(Inspector *self, Parts *parts, FlowObject *object) {
    switch ((FlowKind)object->cell.kind) {
    case KIND_ARRAY: add_elements(self, parts, (const FlowArray *)object); break;
    case KIND_MAP:
    case KIND_SET: add_entries(self, parts, (const FlowSlotObject *)object); break;
    case KIND_WEAK_MAP:
    case KIND_WEAK_SET: buf_append_cstr(parts_add(parts), "<items unknown>"); break;
    case KIND_PROMISE: add_promise(self, parts, (const FlowPromise *)object); break;
    default: break;
    }
    add_properties(self, parts, object);
}

static void inspect_object(Inspector *self, Buf *out, FlowObject *object) {
    const FlowMasked *masked = self->vm->masked;
    Str path = masked ? flow_masked_object(masked, object) : STR_NULL;
    if (!str_is_null(path)) {
        buf_printf(out, "[secret %.*s]", STR_ARG(path));
        return;
    }
    if (is_open(self, object)) {
        buf_printf(out, "[Circular *%u]", circle_number(self, object, true));
        return;
    }
    bool is_array = object->cell.kind == KIND_ARRAY;
    if (self->depth > INSPECT_DEPTH_MAX) { // [console-format-1]
        buf_append_char(out, '[');
        if (is_array) buf_append_cstr(out, "Array");
        else append_class(self, out, object);
        buf_append_char(out, ']');
        return;
    }
    Buf head;
    buf_init(&head, INSPECT_PART_MAX);
    bool has_braces = append_head(self, &head, object);
    self->deepest = self->depth;
    self->open[self->depth++] = object;
    self->indentation += 2;
    Parts parts = {0};
    add_parts(self, &parts, object);
    self->indentation -= 2;
    self->depth--;
    uint32_t circle = circle_number(self, object, false);
    if (circle) buf_printf(out, "<ref *%u> ", circle);
    buf_append_str(out, buf_str(&head));
    if (parts.count || has_braces) {
        if (head.len) buf_append_char(out, ' ');
        if (parts.count) join_parts(self, out, &parts, is_array);
        else buf_append_cstr(out, is_array ? "[]" : "{}");
    }
    buf_done(&head);
    parts_done(&parts);
}

static void inspect_value(Inspector *self, Buf *out, FlowValue value) {
    if (flow_is_object(value)) inspect_object(self, out, flow_as_object(value));
    else inspect_primitive(self->vm, out, value);
}

void flow_console_inspect(FlowVm *vm, Buf *out, FlowValue value) {
    Inspector inspector = {.vm = vm};
    inspect_value(&inspector, out, value);
}
