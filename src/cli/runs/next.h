// What of a run waits, why, and what to do about it.
#pragma once
#include "cli/client/session.h"
#include "cli/verbs/list.h"

// A block of `wf show`: a label and lines; of a block that goes on the label is empty.
typedef void (*BlockPrinter)(Session *session, const char *label, Str lines);

// The tasks it waits for, and the one that made it fail: name, queue, attempts, input, last error,
// when it is tried again, whether anybody asks for it.
void next_print_tasks(Session *session, const JsonValue *run, const ListItems *steps,
                      BlockPrinter print);
// What to do now, with the commands that do it.
void next_print_hints(Session *session, const JsonValue *run, const ListItems *steps,
                      BlockPrinter print);
// JSON as it is when it is short, else its beginning and how long it is.
Str next_short_json(Arena *arena, const JsonValue *value);
// Why nobody does a task, in a sentence or two, from its "unserved" member.
Str next_unserved_text(Arena *arena, const JsonValue *unserved);
// A text as one word of a shell.
Str next_shell_word(Arena *arena, Str text);
