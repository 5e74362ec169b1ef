// Unit: from source text, or from a parsed program, to a sealed module.
//
//   [unit-1] Routine 0 is the top level; a function's routine has the number of the function, and
//        routines nobody wrote (default constructors) come after them.
//   [unit-2] Functions are compiled outer before inner, so the registers a closure captures are
//        known when its table of upvalues is made.
//   [unit-3] A module leaves here verified (verify.c): the interpreter trusts it.

#include "base/memory.h"
#include "flow/check/check.h"
#include "flow/code/fuse.h"
#include "flow/code/verify.h"
#include "flow/compile/nodes.h"

// --- positions
// Lines and columns are asked for in nearly ascending order, so the last answer is a good start.
static uint32_t position_line(FlowCompiler *c, uint32_t offset) {
    const uint32_t *starts = c->source->line_starts;
    uint32_t line = c->last_line;
    uint32_t count = c->source->line_count;
    if (starts[line] <= offset && (line + 1 == count || offset < starts[line + 1])) return line;
    if (line + 1 < count && starts[line + 1] <= offset &&
        (line + 2 == count || offset < starts[line + 2]))
        return line + 1;
    uint32_t low = 0;
    uint32_t high = count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (starts[middle] <= offset) low = middle;
        else high = middle;
    }
    return low;
}

static int32_t units_between(Str text, uint32_t from, uint32_t to) { // UTF-16 units
    int32_t units = 0;
    for (uint32_t i = from; i < to; i++) {
        uint8_t byte = (uint8_t)text.data[i];
        if ((byte & 0xC0) != 0x80) units += byte >= 0xF0 ? 2 : 1;
    }
    return units;
}

FlowPosition compile_position(FlowCompiler *c, uint32_t offset) {
    Str text = c->source->text;
    if (offset > text.len) offset = (uint32_t)text.len;
    uint32_t line = position_line(c, offset);
    uint32_t start = c->source->line_starts[line];
    if (c->is_ascii) {
        c->last_line = line;
        return (FlowPosition){line + 1, offset - start + 1};
    }
    if (line != c->last_line) {
        c->last_offset = start;
        c->last_column = 1;
    }
    int32_t column = (int32_t)c->last_column;
    if (offset >= c->last_offset) column += units_between(text, c->last_offset, offset);
    else column -= units_between(text, offset, c->last_offset);
    c->last_line = line;
    c->last_offset = offset;
    c->last_column = (uint32_t)column;
    return (FlowPosition){line + 1, (uint32_t)column};
}

// --- workflows
static Str file_stem(Str file_name) {
    size_t start = file_name.len;
    while (start > 0 && file_name.data[start - 1] != '/') start--;
    Str stem = {file_name.data + start, file_name.len - start};
    for (size_t i = 1; i < stem.len; i++)
        if (stem.data[i] == '.') stem.len = i; // order.flow, order.flow.js: "order"
    return stem;
}

static void unit_workflows(FlowCompiler *c) {
    const FlowProgram *program = c->program;
    FlowModule *module = c->module;
    Str config = STR_NULL;
    if (program->config) config = config_json(&module->arena, program->config);
    module->workflow_count = program->entry_count;
    module->workflows = ARENA_ARRAY(&module->arena, FlowWorkflow, program->entry_count + 1);
    for (uint32_t i = 0; i < program->entry_count; i++) {
        const FlowEntry *entry = &program->entries[i];
        FlowWorkflow *workflow = &module->workflows[i];
        Str name = entry->name ? entry->name->text : file_stem(c->source->name);
        workflow->name = arena_str(&module->arena, name);
        workflow->config_json = config;
        workflow->line = entry->node ? compile_position(c, entry->node->start).line : 1;
    }
}

// --- the prelude: functions are found by name, and their variables hold routine numbers
static void unit_prelude_names(FlowCompiler *c) {
    FlowScope *scope = c->program->main->body_scope;
    for (uint32_t i = 0; i < scope->functions.count; i++) {
        FlowFunction *function = scope->functions.items[i]->function;
        FlowVariable *variable = function->name_node->reference.to.variable;
        variable->reg = function->id;
        c->names[function->name->id].prelude = variable;
        Pending pending = {.kind = PENDING_FUNCTION,
                           .function = function,
                           .name = name_atom(c, function->name),
                           .index = function->id};
        vec_push(&c->queue, pending);
    }
}

// --- compiling
static void unit_init(FlowCompiler *c, Arena *arena) {
    const FlowProgram *program = c->program;
    c->arena = arena;
    c->is_prelude = program->form == FORM_PRELUDE;
    c->module = flow_module_new(c->source->name, c->source->text, c->is_prelude);
    c->names = ARENA_ARRAY(arena, NameCache, program->name_count + 1);
    for (uint32_t i = 0; i < program->name_count; i++) c->names[i].atom = FLOW_HOLE;
    c->routine_count = program->function_count;
    c->last_column = 1;
    c->is_ascii = true;
    for (size_t i = 0; i < c->source->text.len && c->is_ascii; i++)
        c->is_ascii = (uint8_t)c->source->text.data[i] < 0x80;
}

static void unit_done(FlowCompiler *c) {
    vec_free(&c->queue);
    vec_free(&c->routines);
    vec_free(&c->code);
    vec_free(&c->constants);
    vec_free(&c->sites);
    vec_free(&c->handlers);
    vec_free(&c->positions);
    vec_free(&c->statements);
    vec_free(&c->descriptions);
    vec_free(&c->variables);
    vec_free(&c->templates);
    vec_free(&c->jumps);
    vec_free(&c->gaps);
    vec_free(&c->is_variable);
    mem_free(c->constant_table.slots);
}

FlowRoutine *compile_routine_slot(FlowCompiler *c, uint32_t index) {
    vec_reserve(&c->routines, (size_t)index + 1);
    while (c->routines.count <= index) vec_push(&c->routines, (FlowRoutine){.code = NULL});
    return &c->routines.data[index];
}

static void unit_compile(FlowCompiler *c) {
    FlowFunction *main = c->program->main;
    Pending top_level = {.kind = PENDING_FUNCTION,
                         .function = main,
                         .name = flow_module_string(c->module, STR("")),
                         .index = main->id};
    vec_push(&c->queue, top_level);
    if (c->is_prelude) unit_prelude_names(c);
    for (uint32_t next = 0; next < c->queue.count && !c->has_failed; next++) { // [unit-2]
        Pending pending = c->queue.data[next];                                 // the queue may move
        compile_routine(c, &pending);
    }
}

// A function that another one of its name replaces is never made; its number remains.
static void unit_fill(FlowCompiler *c) {
    compile_routine_slot(c, c->routine_count - 1);
    FlowInstruction *end = ARENA_NEW(&c->module->arena, FlowInstruction);
    end->op = OP_RETURN_UNDEFINED;
    for (uint32_t i = 0; i < c->routine_count; i++) {
        FlowRoutine *routine = &c->routines.data[i];
        if (routine->code) continue;
        routine->name = flow_module_string(c->module, STR(""));
        routine->code = end;
        routine->code_count = 1;
        routine->register_count = 1;
    }
}

static void unit_publish(FlowCompiler *c) {
    FlowModule *module = c->module;
    unit_fill(c);
    module->routine_count = c->routine_count;
    module->routines = ARENA_ARRAY(&module->arena, FlowRoutine, c->routine_count);
    memcpy(module->routines, c->routines.data, c->routine_count * sizeof(FlowRoutine));
    unit_workflows(c);
    flow_module_seal(module);
    Diag diag;
    if (flow_verify(module, &diag) == OK) { // [unit-3]
        flow_fuse(module);
        return;
    }
    // A bug of ours, but the text is somebody else's: refuse the file rather than stop a server.
    c->has_failed = true;
    FlowFinding finding = {.code = FLOW_ERROR_LIMIT,
                           .severity = FLOW_SEVERITY_ERROR,
                           .hint = "this is a fault of the compiler; please report it"};
    flow_report_add(c->report, &finding, "The code made of this file is not valid: %s",
                    diag.message);
}

// Compiles a program that parsed without an error. Answers a sealed module, or NULL when a limit
// of the format was broken: the report says which. Nothing of the module points into the tree.
static FlowModule *flow_compile_program(const FlowProgram *program, const FlowSource *source,
                                        FlowReport *report) {
    Arena arena;
    arena_init(&arena);
    FlowCompiler compiler = {.program = program, .source = source, .report = report};
    FlowCompiler *c = &compiler;
    unit_init(c, &arena);
    unit_compile(c);
    if (!c->has_failed) unit_publish(c);
    FlowModule *module = c->module;
    if (c->has_failed) {
        flow_module_release(module);
        module = NULL;
    }
    unit_done(c);
    arena_done(&arena);
    return module;
}

// --- from text
typedef enum TextKind {
    TEXT_NEW,     // a file of the user
    TEXT_CHECKED, // the same, held to what can work [check.h]
    TEXT_STORED,  // one that was accepted before: its config is not looked at again [config.h C2]
    TEXT_PRELUDE
} TextKind;

static Status compile_text(const FlowSource *source, TextKind kind, FlowReport *report,
                           FlowModule **ret_module) {
    Arena arena;
    arena_init(&arena);
    FlowModule *module = NULL;
    FlowParseMode mode = kind == TEXT_PRELUDE ? FLOW_PARSE_PRELUDE : FLOW_PARSE_WORKFLOW;
    FlowProgram *program = flow_parse(source, mode, &arena, report);
    bool is_new = kind == TEXT_NEW || kind == TEXT_CHECKED;
    if (program && program->config && is_new) config_check(program->config, &arena, report);
    if (program && kind == TEXT_CHECKED) flow_check(program, &arena, report);
    if (report->error_count > 0) program = NULL;
    if (program) module = flow_compile_program(program, source, report);
    arena_done(&arena);
    if (!module) return ERR_INVALID;
    *ret_module = module;
    return OK;
}

static Status compile_without_report(Str file_name, Str text, TextKind kind,
                                     FlowModule **ret_module, Diag *diag) {
    Arena arena;
    FlowSource source;
    arena_init(&arena);
    Status status = flow_source_init(&source, file_name, text, &arena, diag);
    if (status == OK) {
        FlowReport *report = ARENA_NEW(&arena, FlowReport);
        flow_report_init(report, &source, &arena);
        status = compile_text(&source, kind, report, ret_module);
        if (status != OK) flow_report_first(report, diag);
    }
    arena_done(&arena);
    return status;
}

Status flow_compile(Str file_name, Str source, FlowModule **ret_module, FlowReport *report,
                    Diag *diag) {
    if (!report) return compile_without_report(file_name, source, TEXT_NEW, ret_module, diag);
    Status status = compile_text(report->source, TEXT_NEW, report, ret_module);
    if (status != OK) flow_report_first(report, diag);
    return status;
}

Status flow_compile_checked(FlowReport *report, FlowModule **ret_module, Diag *diag) {
    Status status = compile_text(report->source, TEXT_CHECKED, report, ret_module);
    if (status != OK) flow_report_first(report, diag);
    return status;
}

Status flow_compile_prelude(Str file_name, Str source, FlowModule **ret_module, Diag *diag) {
    return compile_without_report(file_name, source, TEXT_PRELUDE, ret_module, diag);
}

Status flow_compile_stored(Str file_name, Str source, FlowModule **ret_module, Diag *diag) {
    return compile_without_report(file_name, source, TEXT_STORED, ret_module, diag);
}
