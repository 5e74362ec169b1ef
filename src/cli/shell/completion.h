// Completion scripts for shells.
#pragma once
#include "cli/shell/pages.h"
#include <stdio.h>

typedef enum CompletionKind {
    COMPLETE_FILES,
    COMPLETE_FOLDERS,
    COMPLETE_WORDS, // that are known beforehand
    COMPLETE_ASK,
} CompletionKind;

typedef struct CompletionSource { // where the values of a placeholder come from
    CompletionKind kind;
    // COMPLETE_ASK: a command of abide that prints one per line. COMPLETE_WORDS: the words,
    // separated by blanks.
    char text[160];
} CompletionSource;

enum { COMPLETION_OPERANDS_MAX = 4 }; // places of a command that are told apart

// False: nobody knows them. "a|b|c" is a choice of words.
bool completion_source(Str placeholder, CompletionSource *ret_source);
// The same for the operand at `index`. *ret_is_last: it stands for all that follow, too.
bool completion_operand(const Page *page, size_t index, CompletionSource *ret_source,
                        bool *ret_is_last);
// For each place of the command a case of a shell, "' wf start 1') " or "' wf show '*) ", what
// `print` writes of its source, and `end`.
void completion_cases(FILE *file, const Page *page,
                      void (*print)(FILE *file, const CompletionSource *source), const char *end);
void completion_quote(FILE *file, const char *text); // for between single quotes

void completion_bash(FILE *file);
void completion_zsh(FILE *file);
void completion_fish(FILE *file);
