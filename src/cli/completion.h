// Completion scripts for shells.
#pragma once
#include "cli/pages.h"
#include <stdio.h>

typedef enum CompletionKind { COMPLETE_FILES, COMPLETE_FOLDERS, COMPLETE_ASK } CompletionKind;

typedef struct CompletionSource { // where the values of a placeholder come from
    const char *placeholder;
    CompletionKind kind;
    const char *command; // COMPLETE_ASK: of abide, prints one per line
} CompletionSource;

const CompletionSource *completion_source(Str placeholder); // NULL: nobody knows them
void completion_quote(FILE *file, const char *text);         // for between single quotes

void completion_bash(FILE *file);
void completion_zsh(FILE *file);
void completion_fish(FILE *file);
