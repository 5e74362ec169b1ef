// Watch: inotify on the folders of the files.
//
// A change is reported when the folder has been quiet for a moment, because editors save in
// several steps. Events of other files in the same folders are read and dropped.
//   [watch-2] Two files of one name in different folders are not told apart: checking once too
//        often does no harm.

#include "cli/run/watch.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { SETTLE_MS = 50 }; // editors write in several steps

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static Status watch_folder(int descriptor, const char *path, Diag *diag) {
    char folder[PATH_MAX];
    size_t len = (size_t)(base_name(path) - path);
    if (len >= sizeof folder)
        return diag_set(diag, ERR_LIMIT, "PATH_TOO_LONG", "the path %s is too long", path);
    memcpy(folder, path, len);
    folder[len] = 0;
    if (len == 0) memcpy(folder, ".", 2);
    if (inotify_add_watch(descriptor, folder, IN_CLOSE_WRITE | IN_MOVED_TO) < 0)
        return diag_set(diag, ERR_UNAVAILABLE, "WATCH_FAILED", "cannot watch %s: %s", folder,
                        strerror(errno));
    return OK;
}

Status watch_open(Watch *watch, char **files, size_t file_count, Diag *diag) {
    *watch = (Watch){inotify_init1(IN_CLOEXEC | IN_NONBLOCK), files, file_count};
    if (watch->descriptor < 0)
        return diag_set(diag, ERR_UNAVAILABLE, "WATCH_FAILED", "cannot watch files: %s",
                        strerror(errno));
    for (size_t i = 0; i < file_count; i++) {
        Status status = watch_folder(watch->descriptor, files[i], diag);
        if (status == OK) continue;
        watch_close(watch);
        return status;
    }
    return OK;
}

void watch_close(Watch *watch) {
    if (watch->descriptor >= 0) close(watch->descriptor);
    watch->descriptor = -1;
}

static bool is_ours(const Watch *watch, const char *name) {
    for (size_t i = 0; i < watch->file_count; i++)
        if (strcmp(base_name(watch->files[i]), name) == 0) return true;
    return false;
}

// Reads what has happened; answers whether it concerns one of the files.
static bool watch_drain(Watch *watch) {
    _Alignas(struct inotify_event) char events[4096];
    bool is_changed = false;
    ssize_t len;
    while ((len = read(watch->descriptor, events, sizeof events)) > 0) {
        for (char *at = events; at < events + len;) {
            const struct inotify_event *event = (const struct inotify_event *)(void *)at;
            if (event->len && is_ours(watch, event->name)) is_changed = true;
            at += sizeof *event + event->len;
        }
    }
    return is_changed;
}

bool watch_wait(Watch *watch) {
    struct pollfd waited = {.fd = watch->descriptor, .events = POLLIN};
    bool is_changed = false;
    for (;;) {
        int count = poll(&waited, 1, is_changed ? SETTLE_MS : -1);
        if (count < 0) return false;
        if (count == 0) return true;
        if (watch_drain(watch)) is_changed = true;
    }
}
