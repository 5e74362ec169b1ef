// Scanning a tree of flow files, and inotify on its folders.
//
// What an event says is not looked at: any of them leads to a scan of the whole tree, which is
// quick and cannot be confused by events that were merged, lost or out of order. Watching a folder
// twice is one watch, so every scan simply watches each folder it reads.
//
// Invariants [tree-1]-[tree-3] are in flows/tree.h.
//
// Not here: what is done with the files (flows/folder.c).
#include "server/flows/tree.h"
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SETTLE_MS = 50,         // editors save in several steps
    SETTLE_ROUNDS_MAX = 40, // a tree that is never quiet is looked at all the same
    WATCHED = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
              IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
};

typedef struct Scan {
    FlowTree *tree;
    Arena *arena;
    FlowListing *listing;
    VEC(const char *) folders; // to be read; depth in `depths`
    VEC(int) depths;
    size_t folder_count; // read so far
} Scan;

static bool is_left_out(const char *name) { // [tree-2]
    return name[0] == '.' || strcmp(name, "node_modules") == 0 || strcmp(name, "__pycache__") == 0;
}

static bool is_flow(const char *name) {
    size_t len = strlen(name);
    return len > strlen(".flow") && strcmp(name + len - strlen(".flow"), ".flow") == 0 &&
           name[0] != '.';
}

static FlowStamp stamp_of(const struct stat *info) {
    return (FlowStamp){
        .modified_ns = (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec,
        .changed_ns = (int64_t)info->st_ctim.tv_sec * 1000000000 + info->st_ctim.tv_nsec,
        .size = info->st_size,
        .inode = info->st_ino,
    };
}

static const char *join(Arena *arena, const char *folder, const char *name) {
    if (strcmp(folder, ".") == 0) return arena_cstr(arena, str_from(name));
    size_t len = strlen(folder);
    const char *slash = len > 0 && folder[len - 1] == '/' ? "" : "/";
    return arena_printf(arena, "%s%s%s", folder, slash, name).data;
}

static void visit(Scan *scan, const char *folder, int depth, const struct dirent *entry) {
    FlowListing *listing = scan->listing;
    struct stat info;
    const char *path = join(scan->arena, folder, entry->d_name);
    if (lstat(path, &info) != 0) return; // gone meanwhile
    if (S_ISDIR(info.st_mode)) {
        if (is_left_out(entry->d_name)) return;
        bool has_room = depth < FLOW_TREE_DEPTH_MAX &&
                        scan->folder_count + scan->folders.count < FLOW_TREE_FOLDERS_MAX;
        listing->is_cut |= !has_room;
        if (!has_room) return;
        vec_push(&scan->folders, path);
        vec_push(&scan->depths, depth + 1);
        return;
    }
    if (!is_flow(entry->d_name) || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return;
    if (listing->files.count >= FLOW_TREE_FILES_MAX) listing->is_cut = true;
    else vec_push(&listing->files, (FlowFile){path, stamp_of(&info)});
}

static bool read_folder(Scan *scan, const char *folder, int depth) {
    if (inotify_add_watch(scan->tree->notify_fd, folder, WATCHED) < 0) { // [tree-1]
        if (errno != ENOSPC) return false;
        scan->listing->is_cut = true; // the system allows no more watches: read it all the same
    }
    DIR *directory = opendir(folder);
    if (directory == NULL) return false;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        bool is_self = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!is_self) visit(scan, folder, depth, entry);
    }
    closedir(directory);
    return true;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(((const FlowFile *)a)->path, ((const FlowFile *)b)->path);
}

Status flow_tree_scan(FlowTree *tree, Arena *arena, FlowListing *ret_listing, Diag *diag) {
    *ret_listing = (FlowListing){0};
    Scan scan = {.tree = tree, .arena = arena, .listing = ret_listing, .folder_count = 1};
    bool is_read = read_folder(&scan, tree->root, 0);
    int failure = errno;
    while (is_read && scan.folders.count > 0) {
        const char *folder = vec_pop(&scan.folders);
        int depth = vec_pop(&scan.depths);
        scan.folder_count++;
        (void)read_folder(&scan, folder, depth); // one that is gone or locked has no files for us
    }
    vec_free(&scan.folders);
    vec_free(&scan.depths);
    if (!is_read)
        return diag_set(diag, ERR_NOT_FOUND, "FOLDER_NOT_READ", "cannot read the folder %s: %s",
                        tree->root, strerror(failure));
    if (ret_listing->files.count > 0)
        qsort(ret_listing->files.data, ret_listing->files.count, sizeof(FlowFile), compare_paths);
    return OK;
}

Status flow_tree_open(FlowTree *tree, const char *root, Diag *diag) {
    *tree = (FlowTree){root, inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    if (tree->notify_fd < 0)
        return diag_set(diag, ERR_UNAVAILABLE, "WATCH_FAILED", "cannot watch files: %s",
                        strerror(errno));
    return OK;
}

void flow_tree_close(FlowTree *tree) {
    if (tree->notify_fd >= 0) close(tree->notify_fd);
    tree->notify_fd = -1;
}

static void drain(const FlowTree *tree) {
    char events[4096];
    while (read(tree->notify_fd, events, sizeof events) > 0) {}
}

bool flow_tree_wait(FlowTree *tree, int stop_fd) {
    struct pollfd waited[] = {{.fd = stop_fd, .events = POLLIN},
                              {.fd = tree->notify_fd, .events = POLLIN}};
    for (int round = 0; round < SETTLE_ROUNDS_MAX; round++) {
        int count = poll(waited, 2, round == 0 ? -1 : SETTLE_MS);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 || waited[0].revents != 0) return false;
        if (count == 0) return true; // quiet
        drain(tree);
    }
    return true;
}
