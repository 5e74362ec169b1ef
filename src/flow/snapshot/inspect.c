// Inspect: what a stopped run waits for and what its variables take, for people.
//
// Sizes are those of the snapshot: the writer notes what each node takes and refers to, and the
// nodes are given to the variables that hold them. What several variables hold belongs to the
// first; plain data is given out before functions and promises, which hold half the program.
//
//   [inspect-1] Nothing here runs script code or changes what a script can see.
//   [inspect-2] Values are shown short, and deeper only as far as asked (view.h).
#include "base/array.h"
#include "base/memory.h"
#include "base/text/utf.h"
#include "flow/snapshot/internal.h"
#include "flow/snapshot/path.h"
#include "flow/snapshot/view.h"
#include "flow/vm/promise.h"
#include "flow/vm/unwound.h"
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST_MAX = 5, INSPECT_MAX = 4 << 20, CAUSES_MAX = 8, EXCERPT_AROUND = 2 };

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

// --- the report

typedef struct Report {
    FlowVm *vm;
    JsonWriter *json;
    Buf *scratch;
    FlowViewer viewer;
    uint32_t depth;
    bool is_data_round; // variables with data come before functions and promises
    uint32_t frames_left;
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
    flow_view_text(report->vm, value, VIEW_TEXT_MAX, report->scratch);
    json_write_string(report->json, buf_str(report->scratch));
}

static void report_view(void *context, const Place *place, FlowValue name, FlowValue value) {
    Report *report = context;
    (void)place;
    if (flow_view_is_data(value) != report->is_data_round) return;
    json_write_object_begin(report->json);
    json_put_string(report->json, "name", string_text(report, name));
    flow_view_members(&report->viewer, value, report->depth);
    json_write_object_end(report->json);
}

static void report_place(void *context, const Place *place, bool is_waiting) {
    Report *report = context;
    if (!is_waiting || report->frames_left == 0) return;
    report->frames_left--;
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
    json_write_key(report->json, STR("variables"));
    json_write_array_begin(report->json);
    for (int round = 0; round < 2; round++) {
        report->is_data_round = round == 0;
        each_variable(place, report_view, report);
    }
    json_write_array_end(report->json);
    json_write_object_end(report->json);
}

static void report_waits(Report *report) {
    static const char *const kinds[FLOW_AWAIT_COUNT] = {"none",  "task",     "timer", "signal",
                                                        "event", "workflow", "look"};
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

static void report_init(Report *report, FlowVm *vm, JsonWriter *json, Buf *scratch) {
    buf_init(scratch, INSPECT_MAX);
    *report = (Report){.vm = vm, .json = json, .scratch = scratch, .frames_left = UINT32_MAX};
    report->viewer = (FlowViewer){.vm = vm,
                                  .json = json,
                                  .scratch = scratch,
                                  .nodes_left = VIEW_NODES_MAX,
                                  .text_max = VIEW_TEXT_MAX};
}

static void inspect_with(FlowVm *vm, uint32_t depth, uint32_t text_max, Buf *ret_json) {
    SnapshotWriter writer;
    JsonWriter json;
    Buf scratch;
    Report report;
    json_writer_init(&json, ret_json, STR_NULL);
    report_init(&report, vm, &json, &scratch);
    report.depth = depth;
    report.viewer.text_max = text_max;
    snapshot_writer_init(&writer, vm, true);
    snapshot_walk(&writer);
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

void flow_vm_inspect(FlowVm *vm, uint32_t depth, Buf *ret_json) {
    inspect_with(vm, depth, VIEW_TEXT_MAX, ret_json);
}

void flow_vm_inspect_long(FlowVm *vm, uint32_t depth, Buf *ret_json) {
    inspect_with(vm, depth, VIEW_LONG_MAX, ret_json);
}

// --- one variable

typedef struct Search {
    Report *report;
    Str name;
    FlowValue found; // HOLE: not yet
    bool is_found;
} Search;

static void search_variable(void *context, const Place *place, FlowValue name, FlowValue value) {
    Search *search = context;
    (void)place;
    if (search->is_found || !str_equal(string_text(search->report, name), search->name)) return;
    search->found = value;
    search->is_found = true;
}

static void search_place(void *context, const Place *place, bool is_waiting) {
    if (is_waiting) each_variable(place, search_variable, context);
}

Status flow_vm_inspect_path(FlowVm *vm, Str path, uint32_t depth, Buf *ret_json, Diag *diag) {
    FlowPath parsed;
    TRY(flow_path_parse(path, &parsed, diag));
    SnapshotWriter writer;
    JsonWriter json;
    Buf scratch;
    Report report;
    json_writer_init(&json, ret_json, STR_NULL);
    report_init(&report, vm, &json, &scratch);
    report.viewer.text_max = VIEW_WHOLE_MAX;
    snapshot_writer_init(&writer, vm, false);
    snapshot_walk(&writer);
    Search search = {.report = &report, .name = parsed.parts[0].name};
    each_place(&writer, search_place, &search);
    snapshot_writer_done(&writer);
    FlowValue value = search.found;
    bool is_found = search.is_found && flow_path_follow(vm, &parsed, &value);
    if (is_found) {
        json_write_object_begin(&json);
        json_put_string(&json, "path", path);
        flow_view_members(&report.viewer, value, depth);
        json_write_object_end(&json);
    }
    buf_done(&scratch);
    if (is_found) return OK;
    return diag_set(diag, ERR_NOT_FOUND, "VARIABLE_NOT_FOUND",
                    "there is no variable \"%.*s\" where the script stands",
                    path.len < 200 ? (int)path.len : 200, path.data);
}

// --- post mortem

static void report_unwound(Report *report) {
    const FlowUnwound *unwound = report->vm->unwound;
    for (uint32_t i = 0; i < unwound->frame_count; i++) {
        const FlowUnwoundFrame *frame = &unwound->frames[i];
        Place place = {frame->routine, frame->pc, unwound->values + frame->first, frame->count};
        report_place(report, &place, true);
    }
}

// The lines around the place where the innermost frame threw.
static void report_excerpt(Report *report) {
    const FlowUnwoundFrame *frame = &report->vm->unwound->frames[0];
    const FlowLine *position = flow_routine_position(frame->routine, frame->pc);
    Str left = frame->routine->module->source, line;
    uint32_t number = 0, wanted = position ? position->line : 0;
    json_write_key(report->json, STR("excerpt"));
    json_write_array_begin(report->json);
    while (str_split(&left, '\n', &line)) {
        number++;
        if (number > wanted + EXCERPT_AROUND) break;
        if (number + EXCERPT_AROUND < wanted) continue;
        enum { LINE_MAX = 200 };
        if (line.len > LINE_MAX) line.len = utf8_valid_prefix((Str){line.data, LINE_MAX});
        json_write_object_begin(report->json);
        json_put_i64(report->json, "line", number);
        json_put_string(report->json, "text", line);
        json_write_object_end(report->json);
    }
    json_write_array_end(report->json);
}

static void put_property(Report *report, FlowObject *error, FlowKey key, const char *name) {
    FlowValue value = flow_object_get_data(report->vm, error, key);
    if (!flow_is_string(value)) return;
    buf_clear(report->scratch);
    FlowString *text = flow_as_string(value);
    uint32_t length = flow_string_length(text);
    if (length > VIEW_LONG_MAX) text = flow_string_substring(report->vm, text, 0, VIEW_LONG_MAX);
    flow_string_to_utf8(report->vm, text, report->scratch);
    json_put_string(report->json, name, buf_str(report->scratch));
}

static void report_causes(Report *report) {
    FlowVm *vm = report->vm;
    FlowValue error = vm->result;
    json_write_key(report->json, STR("causes"));
    json_write_array_begin(report->json);
    for (int i = 0; i < CAUSES_MAX && flow_is_object(error); i++) {
        error = flow_object_get_data(vm, flow_as_object(error), FLOW_KEY(vm, cause));
        if (!flow_is_object(error)) break;
        json_write_object_begin(report->json);
        put_property(report, flow_as_object(error), FLOW_KEY(vm, name), "type");
        put_property(report, flow_as_object(error), FLOW_KEY(vm, message), "message");
        put_property(report, flow_as_object(error), FLOW_KEY(vm, code), "code");
        json_write_object_end(report->json);
    }
    json_write_array_end(report->json);
}

bool flow_vm_post_mortem(FlowVm *vm, Buf *ret_json) {
    static const struct {
        uint32_t depth, frames;
    } tries[] = {{3, UNWOUND_FRAMES},
                 {2, UNWOUND_FRAMES},
                 {1, UNWOUND_FRAMES},
                 {0, UNWOUND_FRAMES},
                 {0, 4},
                 {0, 1},
                 {0, 0}};
    if (!vm->unwound || vm->unwound->frame_count == 0) return false;
    if (vm->unwound->error.bits != vm->result.bits) return false; // of another one
    for (size_t i = 0; i < COUNT_OF(tries); i++) {                // as much as there is room for
        JsonWriter json;
        Buf scratch;
        Report report;
        buf_clear(ret_json);
        json_writer_init(&json, ret_json, STR_NULL);
        report_init(&report, vm, &json, &scratch);
        report.depth = tries[i].depth;
        report.frames_left = tries[i].frames;
        json_write_object_begin(&json);
        json_write_key(&json, STR("frames"));
        json_write_array_begin(&json);
        report_unwound(&report);
        json_write_array_end(&json);
        report_excerpt(&report);
        report_causes(&report);
        json_write_object_end(&json);
        buf_done(&scratch);
        if (!ret_json->is_overflown) return true;
    }
    return false;
}
