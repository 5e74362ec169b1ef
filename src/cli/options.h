// Options: one table per command says what it accepts; parsing and help are made from it.
//
//   --name VALUE, --name=VALUE, -n VALUE; `--` ends the options; what is left are operands.
#pragma once
#include "base/text/str.h"
#include <stdint.h>

typedef enum OptionKind {
    OPTION_FLAG,   // bool
    OPTION_TEXT,   // Str
    OPTION_NUMBER, // Str: a whole number that goes on as it was written; who sends it looks at it
    OPTION_COUNT,  // uint64_t: a whole number
    OPTION_SIZE,   // uint64_t: bytes, with K, M or G behind the number
    OPTION_TEXTS,  // OptionTexts: may be given several times
} OptionKind;

enum { OPTION_TEXTS_MAX = 32 };

typedef struct OptionTexts {
    const char *items[OPTION_TEXTS_MAX];
    size_t count;
} OptionTexts;

typedef struct Option {
    const char *name; // without the dashes
    char letter;      // 0: none
    OptionKind kind;
    void *target;      // of the type the kind says; keeps its value when the option is absent
    const char *value; // placeholder in the help, "a|b|c" for a choice; NULL for flags
    const char *help;
} Option;

typedef struct OptionTable {
    const char *usage;   // "abide run FILE [options]"
    const char *about;   // a sentence or two
    const char *example; // complete command lines, one per line
    const Option *options;
    size_t option_count;
    size_t operand_min;
    size_t operand_max;
    const Option *shared; // further ones that many commands have; NULL: none
    size_t shared_count;
} OptionTable;

typedef struct Operands {
    char **items; // points into the arguments, which are put in order
    size_t count;
} Operands;

typedef enum OptionsResult {
    OPTIONS_OK,
    OPTIONS_HELP, // --help was asked for and has been printed on stdout
    OPTIONS_BAD,  // the complaint is on stderr
} OptionsResult;

OptionsResult options_parse(const OptionTable *table, int argument_count, char **arguments,
                            Operands *ret_operands);
// What the last OPTIONS_BAD was about, without the program's name; lives until the next one.
const char *options_complaint(void);
// "64M", "512K", "1G", "1048576". False: not a size.
bool options_parse_size(const char *text, uint64_t *ret_size);

// While an observer is set, options_parse hands it the command's table and parses nothing (the
// answer is OPTIONS_HELP, so the command ends). That is how completions and manual pages see the
// options of every command. NULL ends it.
typedef void (*OptionsObserver)(void *context, const OptionTable *table);
void options_observe(OptionsObserver observer, void *context);
// The option at `index` of the command's own and then the shared ones; NULL beyond the last.
const Option *options_at(const OptionTable *table, size_t index);
