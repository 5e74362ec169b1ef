// What all runners share: the output of a turn, and error objects.
//
// A TurnOutput keeps its vectors from turn to turn, so a busy executor stops allocating; what the
// vectors point at lives in the arena of the execution and goes with it.
//
// An id of something that a turn makes is derived, so that a repeated turn names the same thing.
//   [runner-4] No two tasks of a store have the same derived id: it names the run, the incarnation
//        and the place in it. Only digits and letters follow the prefix, as log_entry_target of
//        model/rows.c knows made ids.
//
// Not here: how a run is interpreted (native.c), how its output is committed (coordinator.c).
#include "engine/runners/runner.h"
#include "base/containers/hash.h"
#include "base/limits.h"
#include "base/text/hex.h"
#include "json/write.h"
#include "model/tasks/id.h"

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
    output->place = PLACE_UNKNOWN;
    output->result = STR_NULL;
    output->participant = NULL;
    output->participant_context = NULL;
    output->is_unreadable = false;
    output->is_preempted = false;
    output->is_final = false;
    output->idle_timeout_ms = 0;
}

// ---- ids ----

enum { DIGEST_SIZE = 16 };

Str derived_id(Arena *arena, const char *prefix, Str what) {
    uint8_t digest[SHA256_SIZE];
    char hex[2 * DIGEST_SIZE + 1];
    Sha256 sha;
    sha256_init(&sha);
    sha256_update(&sha, what.data, what.len);
    sha256_final(&sha, digest);
    hex_write(hex, digest, DIGEST_SIZE);
    hex[2 * DIGEST_SIZE] = 0;
    return arena_printf(arena, "%s%s", prefix, hex);
}

// [runner-4]
Str task_id_at(Arena *arena, const RunView *view, int64_t position) {
    return task_id_make(arena, &(TaskPlace){.run_id = view->id,
                                            .run_key = view->key,
                                            .incarnation = view->incarnation,
                                            .position = position});
}

// ---- texts ----

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
