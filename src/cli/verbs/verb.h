// Verbs: commands of the three common shapes, described as data.
//
//   VERB_LIST     abide task ls [--status S …] [--limit N] [--cursor C]   pages of a resource
//                 abide topic events TOPIC [--limit N] [--cursor C]       … of one thing
//   VERB_SHOW     abide task show TASK                                    one thing, in full
//   VERB_CHANGE   abide wf cancel RUN... [--reason TEXT …]                the same to each of many
//
//   [verb-1] Options go to the server under their own names, with "_" for "-": of a list into the
//        query, of a change into the body. What is not given is left to the server.
//   [verb-2] A verb is all there is to its command: help, completions and manual pages follow from
//        it.
#pragma once
#include "cli/verbs/list.h"

enum { VERB_OPTIONS_MAX = 12 };

typedef enum VerbKind { VERB_LIST, VERB_SHOW, VERB_CHANGE } VerbKind;

typedef enum VerbValue {
    VALUE_TEXT,
    VALUE_PAST, // a time, or how long ago; sent as a time
    VALUE_LIST, // of lists: may be given several times, or with commas
} VerbValue;

typedef struct VerbOption {
    const char *name; // NULL ends a list
    char letter;      // 0: none
    const char *value, *help;
    VerbValue kind;
} VerbOption;

typedef struct Verb {
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
    // VERB_CHANGE
    const char *method;   // NULL: POST
    const char *done;     // "paused"
    const char *not_done; // NULL: "unchanged"
    const char *product;  // as in Bulk
    bool concerns_no_run; // so a store that is opened is not put to work for it
} Verb;

int verb_run(const Verb *verb, int argument_count, char **arguments);
