// Moving a snapshot: read with the old code, put every function in flight and every function object
// on the new code, write with the new code, read that back.
//
// The VM between the two is never run: its values point into both modules, which the writer does
// not mind because it names strings by content (snapshot/format.h [format-3]).
#include "flow/move/internal.h"
#include "flow/snapshot/place.h"
#include "flow/value/object_layout.h"
#include <stdlib.h>

FlowMove *flow_move_new(FlowModule *from, FlowModule *to) {
    Arena arena;
    arena_init(&arena);
    FlowMove *move = ARENA_NEW(&arena, FlowMove);
    move->arena = arena;
    move->to.is_new = true;
    move_side_init(move, &move->from, from);
    move_side_init(move, &move->to, to);
    move_pair(move);
    return move;
}

void flow_move_free(FlowMove *move) {
    if (!move) return;
    flow_module_release(move->from.module);
    flow_module_release(move->to.module);
    vec_free(&move->renames);
    Arena arena = move->arena; // the move is in it
    arena_done(&arena);
}

// --- what there is to move

static void add_closure(MoveRun *run, FlowClosure *closure) {
    const FlowRoutine *routine = closure->routine;
    if (routine->module != run->move->from.module) return;
    if (run->move->from.routines[routine->index].other == MOVE_NONE) return; // see check_closure
    vec_push(&run->closures, (MoveClosure){closure, NULL});
}

// After the move: a function that the new version does not have may be gone with the variable that
// held it, but nobody may hold it any more.
static void check_closure(void *context, FlowCell *cell) {
    MoveRun *run = context;
    if (cell->kind != KIND_CLOSURE) return;
    const FlowRoutine *routine = ((const FlowClosure *)cell)->routine;
    if (routine->module != run->move->from.module) return;
    const FlowLine *line = flow_routine_position(routine, 0);
    const char *name = move_text(run, routine->name);
    move_refuse(run, NULL,
                "the run holds %s%s%s (line %u), which the new version does not have, or not as "
                "the same kind of function",
                *name ? "the function `" : "a function", name, *name ? "`" : "",
                line ? line->line : 0);
}

static void add_frame(MoveRun *run, FlowCoroutine *coroutine) {
    const FlowRoutine *routine = ((FlowClosure *)flow_as_pointer(coroutine->function))->routine;
    if (routine->module != run->move->from.module || !coroutine->registers) return;
    MoveFrame *frame = ARENA_NEW(&run->arena, MoveFrame);
    *frame = (MoveFrame){.coroutine = coroutine, .routine = routine->index, .pc = coroutine->pc};
    frame->new_routine = run->move->from.routines[routine->index].other;
    if (frame->new_routine == MOVE_NONE) {
        move_refuse(run, frame, "the function is not in the new version, or another kind of one");
        return;
    }
    const MovePlace *place = move_place_find(&run->move->from, routine->index, coroutine->pc);
    if (!place || place->other == MOVE_NONE) {
        bool is_label = place && place->label.data;
        move_refuse(run, frame, "%s",
                    !place || !place->is_ambiguous
                        ? (is_label ? "the label of this place is not in the new version"
                                    : "what the run waits for here is not in the new version")
                        : "the new version has several places like this one; a label "
                          "(// @label NAME) in both versions tells them apart");
        return;
    }
    const MoveRoutine *other = &run->move->to.routines[frame->new_routine];
    frame->new_pc = other->places[place->other].pc;
    frame->count = run->move->to.module->routines[frame->new_routine].register_count;
    frame->values = ARENA_ARRAY(&run->arena, FlowValue, frame->count);
    frame->is_known = ARENA_ARRAY(&run->arena, uint8_t, frame->count);
    for (uint32_t i = 0; i < frame->count; i++) frame->values[i] = FLOW_HOLE;
    vec_push(&run->frames, frame);
}

static void add_cell(void *context, FlowCell *cell) {
    MoveRun *run = context;
    if (cell->kind == KIND_CLOSURE) add_closure(run, (FlowClosure *)cell);
    if (cell->kind == KIND_COROUTINE) add_frame(run, (FlowCoroutine *)cell);
}

// Stacks of errors name lines of the old code: they become text.
static void render_error(void *context, FlowCell *cell) {
    if (cell->kind != KIND_ERROR) return;
    MoveRun *run = context;
    FlowProperty unused;
    (void)flow_object_get_own(run->vm, (FlowObject *)cell, FLOW_KEY(run->vm, stack), &unused);
    ((FlowErrorObject *)cell)->frames = FLOW_UNDEFINED;
}

static int compare_closures(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const MoveClosure *)a)->closure;
    uintptr_t y = (uintptr_t)((const MoveClosure *)b)->closure;
    return (x > y) - (x < y);
}

// --- putting it on the new code

static void apply_frame(MoveRun *run, const MoveFrame *frame) {
    uint32_t live = run->move->to.module->routines[frame->new_routine].code[frame->new_pc].c;
    FlowStorage *storage =
        flow_heap_alloc(&run->vm->heap, KIND_ELEMENTS, sizeof *storage + live * sizeof(FlowValue));
    storage->cell.aux = storage->count = live;
    for (uint32_t i = 0; i < live; i++) storage->values[i] = frame->values[i];
    frame->coroutine->registers = storage;
    frame->coroutine->pc = frame->new_pc;
}

// Objects of tagged templates are a cache by site; one whose site is gone is made again.
static void apply_templates(MoveRun *run) {
    FlowVm *vm = run->vm;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < vm->template_count; i++) {
        FlowTemplateObject entry = vm->templates[i];
        if (entry.routine->module == run->move->from.module) {
            uint32_t other = run->move->from.routines[entry.routine->index].other;
            if (other == MOVE_NONE) continue;
            const FlowRoutine *routine = &run->move->to.module->routines[other];
            bool is_same = run->move->from.routines[entry.routine->index].body ==
                           run->move->to.routines[other].body;
            if (!is_same || entry.index >= routine->template_count) continue;
            entry.routine = routine;
        }
        vm->templates[kept++] = entry;
    }
    vm->template_count = kept;
}

static void apply(MoveRun *run) {
    for (size_t i = 0; i < run->frames.count; i++) apply_frame(run, run->frames.data[i]);
    for (size_t i = 0; i < run->closures.count; i++) {
        FlowClosure *closure = run->closures.data[i].closure;
        uint32_t other = run->move->from.routines[closure->routine->index].other;
        closure->routine = &run->move->to.module->routines[other];
    }
    apply_templates(run);
}

// --- the whole

static bool find_workflow(MoveRun *run, uint32_t *ret_index) {
    const FlowModule *from = run->move->from.module;
    Str name = from->workflows[run->vm->workflow_index].name;
    if (flow_module_find_workflow(run->move->to.module, name, ret_index) == OK) return true;
    bool is_alone = from->workflow_count == 1 && run->move->to.module->workflow_count == 1;
    if (is_alone) { // a file that is a workflow has the name of the file
        *ret_index = 0;
        return true;
    }
    return move_refuse(run, NULL, "the new version has no workflow `%.*s`", STR_ARG(name));
}

static bool is_waiting(MoveRun *run) {
    const FlowVm *vm = run->vm;
    if (vm->state != VM_NEW && vm->state != VM_RUNNING)
        return move_refuse(run, NULL, "the run has ended");
    if (vm->frame_count || !flow_is_hole(vm->exception) || vm->driver_reaction)
        return move_refuse(run, NULL, "the run is in the middle of a turn");
    return true;
}

static bool resolve(MoveRun *run) {
    if (!is_waiting(run)) return false;
    flow_snapshot_visit(run->vm, NULL, (FlowVisitor){add_cell, run});
    if (run->is_refused) return false;
    if (run->closures.count)
        qsort(run->closures.data, run->closures.count, sizeof *run->closures.data,
              compare_closures);
    for (size_t i = 0; i < run->closures.count; i++)
        if (!move_closure_fill(run, &run->closures.data[i])) return false;
    for (size_t i = 0; i < run->frames.count; i++)
        if (!move_frame_fill(run, run->frames.data[i])) return false;
    for (size_t i = 0; i < run->made.count; i++) { // filling one may make others
        MoveMade made = run->made.data[i];
        if (!move_made_fill(run, &made)) return false;
    }
    return true;
}

typedef struct MoveRewrite {
    FlowRewrite base;
    const MoveRun *run;
} MoveRewrite;

static const FlowValue *moved_upvalues(const FlowRewrite *rewrite, const FlowClosure *closure) {
    const MoveRun *run = ((const MoveRewrite *)rewrite)->run;
    MoveClosure key = {.closure = (FlowClosure *)(uintptr_t)closure};
    const MoveClosure *found =
        run->closures.count
            ? bsearch(&key, run->closures.data, run->closures.count, sizeof key, compare_closures)
            : NULL;
    return found ? found->upvalues : closure->upvalues;
}

// [move-2]
static Status write_moved(MoveRun *run, FlowVmOptions options, Buf *ret_bytes) {
    MoveRewrite rewrite = {{moved_upvalues}, run};
    Buf bytes;
    buf_init(&bytes, SIZE_MAX / 2);
    FlowModule *old = run->vm->module;
    flow_snapshot_visit(run->vm, &rewrite.base, (FlowVisitor){check_closure, run});
    if (run->is_refused) return ERR_CONFLICT;
    run->vm->module = run->move->to.module;
    Status status = flow_snapshot_rewrite(run->vm, &rewrite.base, &bytes, run->diag);
    run->vm->module = old;
    run->move->place = flow_vm_place(run->vm);
    FlowVm *again = NULL;
    options.module = run->move->to.module;
    if (status == OK) status = flow_snapshot_read(buf_str(&bytes), &options, &again, run->diag);
    flow_vm_free(again);
    if (status == OK && ret_bytes) buf_append_str(ret_bytes, buf_str(&bytes));
    buf_done(&bytes);
    return status;
}

int64_t flow_move_place(const FlowMove *move) { return move->place; }

Status flow_move_snapshot(FlowMove *move, Str bytes, FlowLimits limits, Buf *ret_bytes,
                          Diag *diag) {
    FlowVmOptions options = {.module = move->from.module, .limits = limits};
    Diag own = {0};
    MoveRun run = {.move = move, .diag = diag ? diag : &own};
    TRY(flow_snapshot_read(bytes, &options, &run.vm, diag));
    arena_init(&run.arena);
    uint32_t workflow = 0;
    Status status = resolve(&run) && find_workflow(&run, &workflow) ? OK : ERR_CONFLICT;
    if (status == OK) {
        flow_snapshot_visit(run.vm, NULL, (FlowVisitor){render_error, &run});
        apply(&run);
        run.vm->workflow_index = workflow;
        status = write_moved(&run, options, ret_bytes);
    }
    vec_free(&run.frames);
    vec_free(&run.closures);
    vec_free(&run.made);
    flow_vm_free(run.vm);
    arena_done(&run.arena);
    return status;
}
