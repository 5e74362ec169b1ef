// FlowTree: the .flow files below a folder, and being told when they may have changed.
//
//   [tree-1] A folder is watched before it is read, so what is written in between shows at the next
//        scan.
//   [tree-2] Hidden folders, node_modules and __pycache__ are left out; links to folders are not
//        followed, links to files are.
//   [tree-3] Ceilings on files, folders and depth; a tree over one of them is read up to it.
#pragma once
#include "base/arena.h"
#include "base/containers/vec.h"
#include "base/diag.h"
#include <sys/types.h>

enum { FLOW_TREE_FILES_MAX = 10000, FLOW_TREE_FOLDERS_MAX = 10000, FLOW_TREE_DEPTH_MAX = 32 };

typedef struct FlowStamp { // says whether a file is what it was
    int64_t modified_ns, changed_ns, size;
    ino_t inode;
} FlowStamp;

typedef struct FlowFile {
    const char *path; // with the root in front, as messages show it
    FlowStamp stamp;
} FlowFile;

typedef struct FlowListing { // texts live in the arena of the scan
    VEC(FlowFile) files;     // ascending by path
    bool is_cut;             // [tree-3]
} FlowListing;

typedef struct FlowTree {
    const char *root;
    int notify_fd; // of inotify
} FlowTree;

// Codes: FOLDER_NOT_READ, WATCH_FAILED.
MUST_CHECK Status flow_tree_open(FlowTree *tree, const char *root, Diag *diag);
void flow_tree_close(FlowTree *tree);
// All files as they are now. The caller frees `files` with vec_free. FOLDER_NOT_READ: the root is
// gone, or cannot be read.
MUST_CHECK Status flow_tree_scan(FlowTree *tree, Arena *arena, FlowListing *ret_listing,
                                 Diag *diag);
// Waits for a change in the tree and then for a quiet moment; false when `stop_fd` became readable.
bool flow_tree_wait(FlowTree *tree, int stop_fd);

static inline bool flow_stamp_equal(FlowStamp a, FlowStamp b) {
    return a.modified_ns == b.modified_ns && a.changed_ns == b.changed_ns && a.size == b.size &&
           a.inode == b.inode;
}
