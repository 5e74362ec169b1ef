// Verbs: commands described as data. Four shapes are all data; the fifth has a function.
//
//   VERB_LIST     abide task ls [--status S …] [--limit N] [--cursor C]   pages of a resource
//                 abide topic events TOPIC [--limit N] [--cursor C]       … of one thing
//   VERB_SHOW     abide task show TASK                                    one thing, in full
//   VERB_CHANGE   abide wf cancel RUN... [--reason TEXT …]                the same to each of many
//   VERB_SET      abide topic set TOPIC [--cap N …]                       one thing, then shown
//   VERB_CALL     abide logs RUN [--follow]                               what its function does
//
//   [verb-1] Options go to the server under their own names, with "_" for "-" and an "s" behind
//        lists: of a list into the query, of the others into the body. What is not given is left
//        to the server.
//   [verb-2] A verb is all there is to its command: help, completions and manual pages follow from
//        it.
#pragma once
#include "cli/verbs/body.h"
#include "cli/verbs/list.h"

enum { VERB_OPTIONS_MAX = 16, VERB_OPERANDS_MAX = 100000 };

typedef enum VerbKind { VERB_LIST, VERB_SHOW, VERB_CHANGE, VERB_SET, VERB_CALL } VerbKind;

typedef enum VerbValue {
    VALUE_TEXT,
    VALUE_NUMBER, // whole; sent as it was written
    VALUE_FLAG,
    VALUE_PAST, // of lists: a time, or how long ago; sent as a time
    VALUE_LIST, // may be given several times; of lists also with commas
} VerbValue;

enum {                   // further facts of an option
    VERB_OWN = 1 << 0,   // sent by the verb's function, if at all
    VERB_WORKS = 1 << 1, // with it a store that is opened is put to work
};

typedef struct VerbOption {
    const char *name; // NULL ends a list
    char letter;      // 0: none
    const char *value, *help;
    VerbValue kind;
    unsigned facts;
} VerbOption;

typedef struct Verb Verb;

// A verb while it is run: what was given.
typedef struct VerbCall {
    const Verb *verb;
    Session session;
    Operands operands;
    Str values[VERB_OPTIONS_MAX];        // of texts, numbers and times
    OptionTexts lists[VERB_OPTIONS_MAX]; // of lists
    bool flags[VERB_OPTIONS_MAX];        // of flags
    Option options[VERB_OPTIONS_MAX + 3];
    size_t count; // of the verb's own
    OptionTable table;
} VerbCall;

struct Verb {
    VerbKind kind;
    const char *usage, *about, *example; // as in OptionTable
    const char *path;                    // "/v1/tasks"; "/v1/tasks/%s" where a thing is named
    const char *id_field;                // "id", "name"
    const VerbOption *options;           // NULL: none of its own
    // VERB_LIST
    const ListColumn *columns;
    size_t column_count;
    bool is_whole;     // the answer has all there are: no --limit and no --cursor
    bool is_watchable; // has --watch
    // VERB_CHANGE, VERB_SET
    const char *method; // NULL: POST
    // VERB_CHANGE
    const char *done;           // "paused"
    const char *not_done;       // NULL: "unchanged"
    const char *product;        // as in Bulk
    const char *filtered;       // verb of POST /v1/runs/bulk: has -q in place of operands. NULL: no
    const char *filtered_done;  // "moved"
    const char *version_option; // "to"
    bool concerns_no_run;       // so a store that is opened is not put to work for it
    // VERB_SET, VERB_CALL
    size_t operand_min, operand_max;
    // Adds to the body what the options do not say by themselves. False: it is wrong, which has
    // been said. NULL: nothing.
    bool (*put)(VerbCall *call, Body *body);
    // VERB_CALL
    SessionUse use;
    bool has_no_ids; // -o ids is refused
    void (*act)(VerbCall *call);
};

int verb_run(const Verb *verb, int argument_count, char **arguments);

// ---- for the functions of verbs ----

// What was given of an option that the verb has; null, false and empty when nothing was.
Str verb_text(const VerbCall *call, const char *option);
bool verb_flag(const VerbCall *call, const char *option);
const OptionTexts *verb_list(const VerbCall *call, const char *option);
Str verb_operand(const VerbCall *call, size_t index); // null beyond the last
// Adds the operand at `index`, JSON as session_payload reads it, as "input". False: it is none.
bool verb_put_input(VerbCall *call, Body *body, size_t index);
// The body [verb-1]. False: something is wrong with what was given, and that has been said.
bool verb_body(VerbCall *call, Str *ret_body);
