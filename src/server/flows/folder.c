// Flow files as the workflows of an engine.
//
// One thread waits for changes and scans; what it knows of each file is what it deployed last. The
// compiler runs here first, because its findings are what a person at an editor wants to see; the
// engine compiles the text once more when it takes it.
//
// Invariants [folder-1]-[folder-4] are in flows/folder.h.
//
// Not here: finding files and changes (flows/tree.c), what a definition is (api/deploy.c).
#include "server/flows/folder.h"
#include "base/memory.h"
#include "base/thread.h"
#include "flow/flow.h"
#include "flow/lexer/report.h"
#include "server/flows/tree.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SOURCE_SIZE_MAX = 1 << 20, FINDINGS_SIZE_MAX = 1 << 20, SHORT_VERSION = 12 };

typedef struct Known { // a file as it was seen last
    char *path;
    FlowStamp stamp;
    VEC(char *) names; // workflows it has deployed
    char *wanted;      // a workflow it could not have because another file has it; NULL = none
    bool is_seen;      // in the scan under way
} Known;

struct FlowFolder {
    abide_engine *engine;
    const Logger *logger;
    char *root;
    FlowTree tree;
    int stop_fd; // an eventfd
    pthread_t thread;
    StrMap files;  // path -> Known
    StrMap owners; // workflow -> Known [folder-2]
    bool is_cut_said;
};

static void write_block(const Logger *logger, LogLevel level, Buf *text) {
    while (text->len > 0 && text->data[text->len - 1] == '\n') text->len--;
    if (log_takes(logger, level)) logger->write(logger->context, level, buf_cstr(text));
}

// ---- reading and compiling ----

static Status read_source(const char *path, Buf *ret_text, Diag *diag) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe must not hold us up
    ssize_t len = fd >= 0 ? 1 : -1;
    char piece[16384];
    while (len > 0 && !ret_text->is_overflown) {
        len = read(fd, piece, sizeof piece);
        if (len > 0) buf_append(ret_text, piece, (size_t)len);
    }
    int failure = errno;
    if (fd >= 0) close(fd);
    if (len < 0)
        return diag_set(diag, ERR_NOT_FOUND, "FILE_NOT_READ", "cannot read %s: %s", path,
                        strerror(failure));
    if (ret_text->is_overflown)
        return diag_set(diag, ERR_LIMIT, "SOURCE_TOO_LARGE", "%s has more than %d bytes", path,
                        SOURCE_SIZE_MAX);
    return OK;
}

// NULL: it has been said why.
static FlowModule *compile(const FlowFolder *folder, const Known *file, Str text) {
    Arena arena;
    arena_init(&arena);
    Buf findings;
    buf_init(&findings, FINDINGS_SIZE_MAX);
    FlowSource source;
    FlowModule *module = NULL;
    Diag diag;
    Status status = flow_source_init(&source, str_from(file->path), text, &arena, &diag);
    ASSERT(status == OK); // its size was checked
    FlowReport *report = ARENA_NEW(&arena, FlowReport);
    flow_report_init(report, &source, &arena);
    status = flow_compile_checked(report, &module, &diag);
    if (status != OK) module = NULL;
    if (status != OK && report->count == 0)
        LOG(folder->logger, LOG_WARN, "%s: %s", file->path, diag.message);
    if (report->count > 0) {
        flow_report_render_text(report, &findings);
        write_block(folder->logger, LOG_WARN, &findings);
    }
    buf_done(&findings);
    arena_done(&arena);
    return module;
}

// ---- who has which workflow ----

static void give_up_names(FlowFolder *folder, Known *file) {
    for (size_t i = 0; i < file->names.count; i++) {
        strmap_remove(&folder->owners, str_from(file->names.data[i]));
        mem_free(file->names.data[i]);
    }
    vec_clear(&file->names);
}

static bool are_names_free(const FlowFolder *folder, Known *file, const FlowModule *module) {
    for (uint32_t i = 0; i < flow_module_workflow_count(module); i++) {
        Str name = flow_module_workflow(module, i).name;
        const Known *owner = strmap_get(&folder->owners, name);
        if (owner == NULL || owner == file) continue;
        LOG(folder->logger, LOG_WARN,
            "%s was left out: its workflow %.*s is that of %s; rename one of the two", file->path,
            STR_ARG(name), owner->path);
        file->wanted = mem_copy(name.data, name.len);
        return false;
    }
    return true;
}

static void take_names(FlowFolder *folder, Known *file, const FlowModule *module) {
    give_up_names(folder, file);
    for (uint32_t i = 0; i < flow_module_workflow_count(module); i++) {
        Str name = flow_module_workflow(module, i).name;
        vec_push(&file->names, mem_copy(name.data, name.len));
        strmap_put(&folder->owners, str_from(vec_last(&file->names)), file);
    }
}

// ---- deploying ----

typedef struct Deployed {
    const FlowFolder *folder;
    const char *path;
} Deployed;

static void say_deployed(void *user, const abide_deployment *deployment) {
    const Deployed *deployed = user;
    LOG(deployed->folder->logger, LOG_INFO, "%s: workflow %s, version %.*s%s", deployed->path,
        deployment->name, SHORT_VERSION, deployment->version, deployment->is_new ? ", new" : "");
}

static bool deploy_text(FlowFolder *folder, Known *file, Buf *text) {
    FlowModule *module = compile(folder, file, buf_str(text));
    bool is_good = module != NULL && are_names_free(folder, file, module);
    Deployed deployed = {folder, file->path};
    const char *slash = strrchr(file->path, '/');
    abide_error error;
    if (is_good && abide_deploy(folder->engine, slash != NULL ? slash + 1 : file->path,
                                buf_cstr(text), say_deployed, &deployed, &error) != ABIDE_OK) {
        LOG(folder->logger, LOG_WARN, "%s: %s (%s)", file->path, error.message, error.name);
        is_good = false;
    }
    if (is_good) take_names(folder, file, module);
    flow_module_release(module);
    return is_good;
}

static void deploy_file(FlowFolder *folder, Known *file) {
    Buf text;
    buf_init(&text, SOURCE_SIZE_MAX);
    Diag diag;
    mem_free(file->wanted);
    file->wanted = NULL;
    bool is_read = read_source(file->path, &text, &diag) == OK;
    if (!is_read) LOG(folder->logger, LOG_WARN, "%s", diag.message);
    bool is_deployed = is_read && deploy_text(folder, file, &text);
    if (!is_deployed && file->names.count > 0) // [folder-1]
        LOG(folder->logger, LOG_WARN, "%s: the version before stays in use", file->path);
    buf_done(&text);
}

// ---- scanning ----

static Known *known_file(FlowFolder *folder, const FlowFile *found, bool *ret_is_changed) {
    Known *file = strmap_get(&folder->files, str_from(found->path));
    *ret_is_changed = file == NULL || !flow_stamp_equal(file->stamp, found->stamp); // [folder-4]
    if (file == NULL) {
        file = mem_zalloc(sizeof *file);
        file->path = mem_copy(found->path, strlen(found->path));
        strmap_put(&folder->files, str_from(file->path), file);
    }
    file->stamp = found->stamp;
    file->is_seen = true;
    return file;
}

static void known_free(FlowFolder *folder, Known *file) {
    give_up_names(folder, file);
    vec_free(&file->names);
    mem_free(file->wanted);
    mem_free(file->path);
    mem_free(file);
}

static void forget_file(FlowFolder *folder, Known *file) {
    Buf names;
    buf_init(&names, FINDINGS_SIZE_MAX);
    for (size_t i = 0; i < file->names.count; i++)
        buf_printf(&names, "%s%s", i > 0 ? ", " : "", file->names.data[i]);
    if (file->names.count > 0) // [folder-3]
        LOG(folder->logger, LOG_INFO, "%s is gone; %s stays deployed, its runs go on", file->path,
            buf_cstr(&names));
    buf_done(&names);
    strmap_remove(&folder->files, str_from(file->path));
    known_free(folder, file);
}

static void forget_missing(FlowFolder *folder) {
    VEC(Known *) missing = {0};
    Str path;
    void *value;
    for (size_t at = 0; strmap_next(&folder->files, &at, &path, &value);) {
        Known *file = value;
        if (!file->is_seen) vec_push(&missing, file);
        file->is_seen = false;
    }
    for (size_t i = 0; i < missing.count; i++) forget_file(folder, missing.data[i]);
    vec_free(&missing);
}

// A file that was refused because of a workflow which is free now gets another chance.
static void deploy_left_out(FlowFolder *folder, const FlowListing *listing) {
    for (size_t i = 0; i < listing->files.count; i++) {
        Known *file = strmap_get(&folder->files, str_from(listing->files.data[i].path));
        bool is_free =
            file->wanted != NULL && strmap_get(&folder->owners, str_from(file->wanted)) == NULL;
        if (is_free) deploy_file(folder, file);
    }
}

static Status update(FlowFolder *folder, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    FlowListing listing;
    Status status = flow_tree_scan(&folder->tree, &arena, &listing, diag);
    if (status == OK) {
        VEC(Known *) changed = {0};
        for (size_t i = 0; i < listing.files.count; i++) {
            bool is_changed;
            Known *file = known_file(folder, &listing.files.data[i], &is_changed);
            if (is_changed) vec_push(&changed, file);
        }
        // What is gone frees its names first: a file that was moved keeps its workflows.
        forget_missing(folder);
        for (size_t i = 0; i < changed.count; i++) deploy_file(folder, changed.data[i]);
        deploy_left_out(folder, &listing);
        vec_free(&changed);
        if (listing.is_cut && !folder->is_cut_said)
            LOG(folder->logger, LOG_WARN, "%s is too large: not all of it is watched",
                folder->root);
        folder->is_cut_said |= listing.is_cut;
    }
    vec_free(&listing.files);
    arena_done(&arena);
    return status;
}

static void *watch_main(void *context) {
    FlowFolder *folder = context;
    Diag diag;
    while (flow_tree_wait(&folder->tree, folder->stop_fd))
        if (update(folder, &diag) != OK) LOG(folder->logger, LOG_WARN, "%s", diag.message);
    return NULL;
}

// ---- life ----

static void folder_free(FlowFolder *folder) {
    Str path;
    void *value;
    for (size_t at = 0; strmap_next(&folder->files, &at, &path, &value);) known_free(folder, value);
    strmap_done(&folder->files);
    strmap_done(&folder->owners);
    flow_tree_close(&folder->tree);
    if (folder->stop_fd >= 0) close(folder->stop_fd);
    mem_free(folder->root);
    mem_free(folder);
}

Status flow_folder_open(abide_engine *engine, Str path, const Logger *logger,
                        FlowFolder **ret_folder, Diag *diag) {
    FlowFolder *folder = mem_zalloc(sizeof *folder);
    folder->engine = engine;
    folder->logger = logger;
    folder->root = mem_copy(path.data, path.len);
    folder->stop_fd = eventfd(0, EFD_CLOEXEC);
    strmap_init(&folder->files);
    strmap_init(&folder->owners);
    Status status = flow_tree_open(&folder->tree, folder->root, diag);
    if (status == OK) status = update(folder, diag);
    if (status == OK) status = thread_start(&folder->thread, watch_main, folder, diag);
    if (status != OK) {
        folder_free(folder);
        return status;
    }
    *ret_folder = folder;
    return OK;
}

void flow_folder_close(FlowFolder *folder) {
    if (folder == NULL) return;
    uint64_t one = 1;
    while (write(folder->stop_fd, &one, sizeof one) < 0 && errno == EINTR) {}
    pthread_join(folder->thread, NULL);
    folder_free(folder);
}
