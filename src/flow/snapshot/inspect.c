// Inspect: what a stopped run waits for and what its variables take, for people.
//
// Sizes are those of the snapshot: the writer notes what each node takes and refers to, and the
// nodes are given to the variables that hold them. What several variables hold belongs to the
// first; plain data is given out before functions and promises, which hold half the program.
//
//   [inspect-1] Nothing here runs script code or changes what a script can see.
//   [inspect-2] Values are shown short: this is a list for a screen, not an export.
#include "base/memory.h"
#include "flow/snapshot/internal.h"
#include "flow/vm/promise.h"
#include "json/write.h"
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN_TEXT_MAX = 60, SHOWN_KEYS_MAX = 6, LARGEST_MAX = 5, INSPECT_MAX = 4 << 20 };

// --- places: suspended coroutines and frames, with their registers

typedef struct Place {
    const FlowRoutine *routine;
    uint32_t pc;
    const FlowValue *registers;
    uint32_t count;
} Place;

static bool coroutine_place(const FlowCoroutine *coroutine, Place *ret) {
    bool is_suspended =
        coroutine->state == COROUTINE_START || coroutine->state == COROUTINE_SUSPENDED;
    if (!is_suspended || !coroutine->registers) return false;
    const FlowClosure *closure = flow_as_pointer(coroutine->function);
    *ret = (Place){closure->routine, coroutine->pc, coroutine->registers->values,
                   coroutine->registers->count};
    return true;
}

static bool frame_place(const FlowVm *vm, const FlowFrame *frame, Place *ret) {
    if (frame->kind != FRAME_SCRIPT || frame->closure->routine->flags & ROUTINE_PRELUDE) {
        return false;
    }
    const FlowRoutine *routine = frame->closure->routine;
    *ret = (Place){routine, frame->pc ? frame->pc - 1 : 0, vm->stack + frame->base,
                   routine->register_count};
    return true;
}

// Calls with each variable that is alive at a place, and its value.
typedef void (*VariableVisitor)(void *context, const Place *place, FlowValue name, FlowValue value);

static void each_variable(const Place *place, VariableVisitor visit, void *context) {
    const FlowRoutine *routine = place->routine;
    for (uint32_t i = 0; i < routine->variable_count; i++) {
        const FlowLocalName *local = &routine->variables[i];
        bool is_alive = place->pc >= local->start && place->pc < local->end;
        if (!is_alive || local->reg >= place->count) continue;
        FlowValue value = place->registers[local->reg];
        if (flow_is_cell(value)) {
            if (flow_as_cell(value)->kind != KIND_BOX) continue;
            value = flow_as_box(value)->value;
        }
        visit(context, place, local->name, value);
    }
}

// Every place of a walked VM: frames from the top, then coroutines in the order of the walk.
typedef void (*PlaceVisitor)(void *context, const Place *place, bool is_waiting);

static void each_place(const SnapshotWriter *w, PlaceVisitor visit, void *context) {
    Place place;
    for (uint32_t i = w->vm->frame_count; i-- > 0;) {
        if (frame_place(w->vm, &w->vm->frames[i], &place)) visit(context, &place, true);
    }
    for (size_t i = 0; i < w->nodes.count; i++) {
        const FlowCell *cell = w->nodes.data[i].cell;
        if (cell->kind != KIND_COROUTINE) continue;
        const FlowCoroutine *coroutine = (const FlowCoroutine *)cell;
        if (coroutine_place(coroutine, &place)) visit(context, &place, coroutine->is_awaiting);
    }
}

// --- sizes

typedef struct Measure {
    SnapshotWriter *w;
    bool *is_taken; // by node
    VEC(uint32_t) queue;
    SnapshotVariables *variables;
    bool is_data_round;
    bool is_body_round; // of the workflow's own body, to which shared data belongs
} Measure;

// Holds far more than itself: what is behind it belongs to whoever names it.
static bool is_gateway(const FlowCell *cell) {
    return (cell->kind >= KIND_CLOSURE && cell->kind <= KIND_COROUTINE) ||
           cell->kind == KIND_COMBINATOR;
}

static void take_node(Measure *m, uint32_t index, size_t *bytes) {
    if (m->is_taken[index]) return;
    m->is_taken[index] = true;
    *bytes += m->w->nodes.data[index].bytes;
    vec_push(&m->queue, index);
}

static size_t measure_node(Measure *m, uint32_t root) {
    size_t bytes = 0;
    const SnapshotWriter *w = m->w;
    vec_clear(&m->queue);
    take_node(m, root, &bytes);
    for (size_t at = 0; at < m->queue.count; at++) {
        uint32_t index = m->queue.data[at];
        bool is_last = index + 1 == w->nodes.count;
        size_t end = is_last ? w->edges.count : w->nodes.data[index + 1].edges;
        for (size_t i = w->nodes.data[index].edges; i < end; i++) {
            uint32_t child = w->edges.data[i];
            if (!is_gateway(w->nodes.data[child].cell)) take_node(m, child, &bytes);
        }
    }
    return bytes;
}

static void measure_variable(void *context, const Place *place, FlowValue name, FlowValue value) {
    Measure *m = context;
    size_t bytes = 1;
    uint32_t index;
    bool is_node = flow_is_heap(value) && !flow_is_string(value) &&
                   snapshot_find_node(m->w, flow_as_cell(value), &index);
    bool is_data = !is_node || !is_gateway(m->w->nodes.data[index].cell);
    if (is_data != m->is_data_round) return;
    if (is_node) bytes = measure_node(m, index);
    else if (flow_is_string(value)) bytes = flow_string_length(flow_as_string(value));
    SnapshotVariable variable = {.name = name, .routine = place->routine, .bytes = bytes};
    vec_push(m->variables, variable);
}

static void measure_place(void *context, const Place *place, bool is_waiting) {
    (void)is_waiting;
    bool is_body = place->routine->flags & ROUTINE_MODULE;
    if (is_body == ((Measure *)context)->is_body_round) {
        each_variable(place, measure_variable, context);
    }
}

static int compare_sizes(const void *a, const void *b) {
    size_t x = ((const SnapshotVariable *)a)->bytes;
    size_t y = ((const SnapshotVariable *)b)->bytes;
    return x > y ? -1 : x < y;
}

// Largest first; needs a writer that was accounting.
static void snapshot_measure(SnapshotWriter *w, SnapshotVariables *ret) {
    *ret = (SnapshotVariables){0};
    Measure m = {.w = w, .variables = ret};
    m.is_taken = mem_zalloc(w->nodes.count + 1);
    for (int round = 0; round < 4; round++) { // data before functions, the body before the rest
        m.is_data_round = round < 2;
        m.is_body_round = round % 2 == 0;
        each_place(w, measure_place, &m);
    }
    mem_free(m.is_taken);
    vec_free(&m.queue);
    if (ret->count) qsort(ret->data, ret->count, sizeof *ret->data, compare_sizes);
}

static void append_size(Buf *out, size_t bytes) {
    if (bytes >= 10000) buf_printf(out, "%zu kB", (bytes + 500) / 1000);
    else buf_printf(out, "%zu bytes", bytes);
}

void snapshot_name_largest(SnapshotWriter *w, char *ret_text, size_t size) {
    SnapshotVariables variables;
    snapshot_measure(w, &variables);
    Buf out;
    buf_init(&out, size - 1);
    for (size_t i = 0; i < variables.count && i < LARGEST_MAX; i++) {
        size_t before = out.len;
        if (i) buf_append_cstr(&out, ", ");
        flow_string_to_utf8(w->vm, flow_as_string(variables.data[i].name), &out);
        buf_append_cstr(&out, ": ");
        append_size(&out, variables.data[i].bytes);
        if (!out.is_overflown) continue;
        out.len = before; // a name that does not fit is left out whole
        break;
    }
    snprintf(ret_text, size, "%.*s", (int)out.len, out.data ? out.data : "");
    buf_done(&out);
    vec_free(&variables);
}

// --- values, short [inspect-2]

static void show_string(FlowVm *vm, FlowString *s, Buf *out) {
    uint32_t length = flow_string_length(s);
    bool is_cut = length > SHOWN_TEXT_MAX;
    if (length > vm->limits.string_length / 2) { // a rope that is not worth flattening
        buf_printf(out, "string of %u characters", length);
        return;
    }
    FlowString *shown = is_cut ? flow_string_substring(vm, s, 0, SHOWN_TEXT_MAX) : s;
    buf_append_char(out, '"');
    flow_string_to_utf8(vm, shown, out);
    buf_append_cstr(out, is_cut ? "…\"" : "\"");
}

static void show_keys(FlowVm *vm, FlowObject *object, Buf *out) {
    const FlowShape *shape = flow_object_body(vm, object)->shape;
    uint32_t shown = 0;
    buf_append_char(out, '{');
    for (uint32_t i = 0; i < shape->count; i++) {
        FlowValue key = {shape->keys->entries[i].key.bits};
        if (!key.bits || !flow_is_string(key)) continue;
        if (shown == SHOWN_KEYS_MAX) {
            buf_append_cstr(out, ", …");
            break;
        }
        if (shown++) buf_append_cstr(out, ", ");
        flow_string_to_utf8(vm, flow_as_string(key), out);
    }
    buf_append_char(out, '}');
}

static void show_object(FlowVm *vm, FlowObject *object, Buf *out) {
    static const char *const states[] = {"pending", "fulfilled", "rejected"};
    char text[FLOW_TEXT_MAX];
    switch ((FlowKind)object->cell.kind) {
    case KIND_ARRAY: buf_printf(out, "Array(%u)", ((FlowArray *)object)->length); return;
    case KIND_OBJECT: show_keys(vm, object, out); return;
    case KIND_CLOSURE:
        buf_append_cstr(out, "function ");
        flow_string_to_utf8(vm, flow_as_string(((FlowClosure *)object)->routine->name), out);
        return;
    case KIND_PROMISE:
        buf_printf(out, "Promise (%s)", states[((FlowPromise *)object)->state]);
        return;
    case KIND_MAP:
    case KIND_SET: {
        const FlowTable *table = flow_as_pointer(((FlowSlotObject *)object)->internal[0]);
        buf_printf(out, "%s(%u)", object->cell.kind == KIND_MAP ? "Map" : "Set", table->live_count);
        return;
    }
    case KIND_ERROR: {
        FlowValue message = flow_object_get_data(vm, object, FLOW_KEY(vm, message));
        buf_append_cstr(out, flow_describe(vm, flow_from_object(object), text));
        buf_append_char(out, ' ');
        if (flow_is_string(message)) show_string(vm, flow_as_string(message), out);
        return;
    }
    default: buf_append_cstr(out, flow_describe(vm, flow_from_object(object), text)); return;
    }
}

static void show_value(FlowVm *vm, FlowValue value, Buf *out) {
    char text[FLOW_TEXT_MAX];
    if (flow_is_hole(value)) buf_append_cstr(out, "not initialised");
    else if (flow_is_string(value)) show_string(vm, flow_as_string(value), out);
    else if (flow_is_object(value)) show_object(vm, flow_as_object(value), out);
    else buf_append_cstr(out, flow_describe(vm, value, text));
}

// --- the report

typedef struct Report {
    FlowVm *vm;
    JsonWriter *json;
    Buf *scratch;
} Report;

static Str string_text(Report *report, FlowValue string) {
    buf_clear(report->scratch);
    flow_string_to_utf8(report->vm, flow_as_string(string), report->scratch);
    return buf_str(report->scratch);
}

static Str routine_name(Report *report, const FlowRoutine *routine) {
    if (routine->flags & ROUTINE_MODULE) {
        return report->vm->module->workflows[report->vm->workflow_index].name;
    }
    return string_text(report, routine->name);
}

static void report_variable(void *context, const Place *place, FlowValue name, FlowValue value) {
    Report *report = context;
    (void)place;
    json_write_key(report->json, string_text(report, name));
    buf_clear(report->scratch);
    show_value(report->vm, value, report->scratch);
    json_write_string(report->json, buf_str(report->scratch));
}

static void report_place(void *context, const Place *place, bool is_waiting) {
    Report *report = context;
    if (!is_waiting) return;
    const FlowLine *line = flow_routine_position(place->routine, place->pc);
    json_write_object_begin(report->json);
    json_put_string(report->json, "file", place->routine->module->file_name);
    json_put_i64(report->json, "line", line ? line->line : 0);
    json_put_i64(report->json, "column", line ? line->column : 0);
    json_put_string(report->json, "function", routine_name(report, place->routine));
    json_write_key(report->json, STR("locals"));
    json_write_object_begin(report->json);
    each_variable(place, report_variable, report);
    json_write_object_end(report->json);
    json_write_object_end(report->json);
}

static void report_waits(Report *report) {
    static const char *const kinds[FLOW_AWAIT_COUNT] = {"none",   "task",  "timer",
                                                        "signal", "event", "workflow"};
    json_write_key(report->json, STR("waits"));
    json_write_array_begin(report->json);
    for (uint32_t i = 0; i < report->vm->awaitable_count; i++) {
        const FlowAwaitable *awaitable = &report->vm->awaitables[i];
        json_write_object_begin(report->json);
        json_put_i64(report->json, "id", awaitable->id);
        json_put_cstr(report->json, "kind", kinds[awaitable->kind]);
        json_put_bool(report->json, "awaited", flow_promise_is_awaited(awaitable->promise));
        json_write_object_end(report->json);
    }
    json_write_array_end(report->json);
}

static void report_sizes(Report *report, SnapshotWriter *w) {
    Buf payload;
    buf_init(&payload, INSPECT_MAX * 16);
    snapshot_assemble(w, &payload);
    json_put_i64(report->json, "bytes",
                 (int64_t)(payload.len + SNAPSHOT_HEAD_SIZE + SNAPSHOT_CRC_SIZE));
    buf_done(&payload);
    SnapshotVariables variables;
    snapshot_measure(w, &variables);
    json_write_key(report->json, STR("variables"));
    json_write_array_begin(report->json);
    for (size_t i = 0; i < variables.count; i++) {
        json_write_object_begin(report->json);
        json_put_string(report->json, "name", string_text(report, variables.data[i].name));
        json_put_string(report->json, "function", routine_name(report, variables.data[i].routine));
        json_put_i64(report->json, "bytes", (int64_t)variables.data[i].bytes);
        json_write_object_end(report->json);
    }
    json_write_array_end(report->json);
    vec_free(&variables);
}

void flow_vm_inspect(FlowVm *vm, Buf *ret_json) {
    SnapshotWriter writer;
    JsonWriter json;
    Buf scratch;
    buf_init(&scratch, INSPECT_MAX);
    json_writer_init(&json, ret_json, STR_NULL);
    snapshot_writer_init(&writer, vm, true);
    snapshot_walk(&writer);
    Report report = {vm, &json, &scratch};
    json_write_object_begin(&json);
    json_write_key(&json, STR("waitingAt"));
    json_write_array_begin(&json);
    each_place(&writer, report_place, &report);
    json_write_array_end(&json);
    report_waits(&report);
    report_sizes(&report, &writer);
    json_write_object_end(&json);
    snapshot_writer_done(&writer);
    buf_done(&scratch);
}
