// Watch: waits until one of some files is saved.
//   [watch-1] Folders are watched, not files: editors replace a file by renaming another over it.
#pragma once
#include "base/diag.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct Watch {
    int descriptor; // of inotify
    char **files;   // the caller's
    size_t file_count;
} Watch;

MUST_CHECK Status watch_open(Watch *watch, char **files, size_t file_count, Diag *diag);
void watch_close(Watch *watch);
// Answers true after a change, when nothing more has happened for a moment; false when
// interrupted.
bool watch_wait(Watch *watch);
