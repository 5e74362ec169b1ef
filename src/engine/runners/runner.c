// What all runners share: the output of a turn, and error objects.
//
// A TurnOutput keeps its vectors from turn to turn, so a busy executor stops allocating; what the
// vectors point at lives in the arena of the execution and goes with it.
//
// Not here: how a run is interpreted (native.c), how its output is committed (coordinator.c).
#include "engine/runners/runner.h"
#include "base/limits.h"
#include "json/write.h"

void turn_output_init(TurnOutput *output) { *output = (TurnOutput){0}; }

void turn_output_done(TurnOutput *output) {
    vec_free(&output->log);
    vec_free(&output->children);
    vec_free(&output->tasks);
    vec_free(&output->events);
    vec_free(&output->states);
}

void turn_output_clear(TurnOutput *output) {
    vec_clear(&output->log);
    vec_clear(&output->children);
    vec_clear(&output->tasks);
    vec_clear(&output->events);
    vec_clear(&output->states);
    output->next = NEXT_CONTINUE;
    output->waits = (WaitSet){0};
    output->snapshot = STR_NULL;
    output->result = STR_NULL;
    output->participant = NULL;
    output->participant_context = NULL;
    output->is_unreadable = false;
    output->is_preempted = false;
    output->is_final = false;
    output->idle_timeout_ms = 0;
}

Str json_quote(Arena *arena, Str text) {
    Buf quoted;
    buf_init(&quoted, 6 * text.len + 16);
    JsonWriter writer;
    json_writer_init(&writer, &quoted, STR_NULL);
    json_write_string(&writer, text);
    Str answer = arena_str(arena, buf_str(&quoted));
    buf_done(&quoted);
    return answer;
}

Str error_object(Arena *arena, Str type, Str message) {
    return json_error(arena, type, STR_NULL, message);
}
