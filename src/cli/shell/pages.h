// Pages: the tree of commands with the options of each, for completions and manual pages.
//
//   [pages-1] Nothing is written down twice: usage, options, examples and summaries are those the
//        commands parse and print in --help.
#pragma once
#include "cli/cli.h"
#include "cli/options.h"

typedef struct Page {
    const char *path;         // "" for abide itself, "wf", "wf start"
    const char *summary;      // "" for abide itself
    const CliGroup *group;    // NULL: it is a command
    const OptionTable *table; // of a command; lives during the visit
} Page;

typedef void (*PageFunction)(void *context, const Page *page);

// Every group and command: a group before what is in it, in the order of the tree.
void pages_walk(PageFunction visit, void *context);

// The placeholder of the operand at `index` in a usage line: "RUN" of "abide wf show RUN [--follow]
// [options]", "JSON|@FILE|-" of "… [JSON|@FILE|-]". Null: there is none. One that may be repeated
// ("FILE...") stands for all that follow.
Str pages_operand(const Page *page, size_t index);
// "a|b|c" of a choice, which a list of fixed words is; null for other placeholders.
bool pages_is_choice(const char *placeholder);
