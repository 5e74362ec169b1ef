// console: log, info, debug, warn, error. A line goes to the host, which attaches it to the run;
// a host that takes no lines loses them, a script never fails over its own logging.
//
// The first argument may be a format (%s %d %i %f %j %o %O %c %%), as in Node. How values look is
// in builtin/console_format.c.
#include "flow/builtin/console_format.h"
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"
#include "flow/mask/mask.h"
#include "flow/vm/vm.h"

enum { LINE_SIZE_MAX = 1 << 20 };

static const char *const level_names[] = {"log", "info", "debug", "warn", "error"};

static void append_string(FlowVm *vm, Buf *out, FlowValue text) {
    flow_native_charge(vm, (uint64_t)flow_string_length(flow_as_string(text)) * 8);
    flow_string_to_utf8(vm, flow_as_string(text), out);
}

// %d, %i, %f: a number, or NaN for what is none.
static void append_number(FlowVm *vm, Buf *out, char directive, FlowValue value) {
    if (flow_is_bigint(value)) {
        flow_console_inspect(vm, out, value);
        return;
    }
    double number = NAN;
    if (flow_is_string(value)) number = flow_string_to_number(vm, flow_as_string(value));
    else if (flow_is_number(value)) number = flow_as_number(value);
    else if (flow_is_boolean(value)) number = flow_is_true(value);
    else if (flow_is_null(value)) number = 0;
    if (directive == 'i' && number == number) number = flow_to_integer(number);
    flow_console_inspect(vm, out, flow_number(number));
}

static void append_directive(FlowVm *vm, Buf *out, char directive, FlowValue value) {
    switch (directive) {
    case 's':
        if (flow_is_string(value)) append_string(vm, out, value);
        else flow_console_inspect(vm, out, value);
        return;
    case 'd':
    case 'i':
    case 'f': append_number(vm, out, directive, value); return;
    case 'c': return; // a style: nothing to show
    default: flow_console_inspect(vm, out, value); return;
    }
}

// The format string with as many values as it has directives; answers how many were used.
static uint32_t append_format(FlowVm *vm, Buf *out, const FlowValue *values, uint32_t count) {
    FlowString *format = flow_string_flat(vm, flow_as_string(values[0]));
    uint32_t length = flow_string_length(format);
    uint32_t used = 1;
    uint32_t start = 0;
    for (uint32_t i = 0; i + 1 < length && !out->is_overflown; i++) {
        if (flow_string_at(format, i) != '%') continue;
        if (flow_native_is_overdrawn(vm)) break;
        uint16_t directive = flow_string_at(format, i + 1);
        bool is_percent = directive == '%' && count > 1;
        bool is_known = directive < 128 && directive && strchr("sdifjoOc", (char)directive);
        if (!is_percent && !(is_known && used < count)) continue;
        FlowString *before = flow_string_substring(vm, format, start, i);
        append_string(vm, out, flow_from_string(before));
        if (is_percent) buf_append_char(out, '%');
        else append_directive(vm, out, (char)directive, values[used++]);
        start = i + 2;
        i++;
    }
    append_string(vm, out, flow_from_string(flow_string_substring(vm, format, start, length)));
    return used;
}

static void append_values(FlowVm *vm, Buf *out, const FlowValue *values, uint32_t count) {
    uint32_t at = 0;
    if (count && flow_is_string(values[0])) at = append_format(vm, out, values, count);
    for (; at < count && !out->is_overflown && !flow_native_is_overdrawn(vm); at++) {
        if (at > 0) buf_append_char(out, ' ');
        if (flow_is_string(values[at])) append_string(vm, out, values[at]);
        else flow_console_inspect(vm, out, values[at]);
    }
}

// Without what nobody is shown of this run: objects by their places, then all texts.
static void append_masked_line(FlowVm *vm, Buf *out, const FlowNativeCall *call) {
    FlowMasked masked;
    Buf line;
    buf_init(&line, out->max_size);
    flow_masked_init(&masked, vm);
    flow_native_charge(vm, masked.cells.count);
    vm->masked = &masked;
    append_values(vm, &line, call->arguments, call->count);
    vm->masked = NULL;
    flow_masked_text(&masked, buf_str(&line), out);
    flow_masked_done(&masked);
    buf_done(&line);
}

static void append_line(FlowVm *vm, Buf *out, const FlowNativeCall *call) {
    if (flow_vm_mask(vm)) append_masked_line(vm, out, call);
    else append_values(vm, out, call->arguments, call->count);
}

static FlowNativeResult console_write(FlowVm *vm, FlowNativeCall *call) {
    if (!vm->host || !vm->host->ops->effect) return NATIVE_OK;
    Buf line;
    buf_init(&line, LINE_SIZE_MAX);
    append_line(vm, &line, call);
    flow_native_charge(vm, line.len);
    FlowEffect effect = {
        .kind = FLOW_EFFECT_LOG,
        .name = str_from(level_names[flow_native_magic(call)]),
        .json = buf_str(&line),
    };
    Diag diag = {0};
    Status status = vm->host->ops->effect(vm->host, &effect, &diag);
    buf_done(&line);
    if (status == OK) return NATIVE_OK;
    return flow_native_throw(vm, ERROR_KIND_ERROR, "%s", diag.message);
}

static const FlowNativeEntry console_statics[] = {
    NATIVE_MAGIC("log", console_write, 0, 0),   NATIVE_MAGIC("info", console_write, 0, 1),
    NATIVE_MAGIC("debug", console_write, 0, 2), NATIVE_MAGIC("warn", console_write, 0, 3),
    NATIVE_MAGIC("error", console_write, 0, 4), NATIVE_END,
};

const FlowClassEntry flow_class_console = {
    .name = "console",
    .statics = console_statics,
    .tag = "console",
};
