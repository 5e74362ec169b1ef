// Finding, loading and checking the module of a back end. [module-1]-[module-4] are in module.h.
//
// Looked for in this order; the first file of that name decides, whatever is in it:
//   1. the folders of ABIDE_MODULE_PATH, separated by colons
//   2. near the file that this code is in: its own folder (a build tree), `abide` beside it
//      (libabide.so), and the folder for modules of the installation it belongs to (bin/abide)
//   3. the folder for modules that the build was configured with
//
// The file that this code is in is read off /proc/self/maps: the name that the loader remembers is
// what somebody wrote, and may be relative to a folder that has changed since. [module-4]
//
// Not here: modules that are part of the program (module_builtin.c).
#include "base/array.h"
#include "base/containers/buf.h"
#include "base/version.h"
#include "store/module.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Known {
    const char *server, *file, *symbol, *library, *option;
    bool is_built;
} Known;

static const Known known[MODULE_COUNT] = {
    [MODULE_POSTGRES] = {"PostgreSQL", "abide-postgres.so", "store_module_postgres", "libpq",
                         "-Dpostgres", ABIDE_HAS_POSTGRES},
    [MODULE_REDIS] = {"Redis", "abide-redis.so", "store_module_redis", "hiredis", "-Dredis",
                      ABIDE_HAS_REDIS},
};

enum { FOLDERS_MAX = 16, PLACES_SIZE_MAX = 64 << 10 };

typedef struct Search {
    const Known *known;
    Buf path;   // of the file that was found, or looked at last
    Buf places; // folders that do not have it, for people
    bool is_found;
} Search;

// ---- where ----

static void look_in(Search *search, Str folder) {
    // [module-4] A relative folder is one of the current folder.
    if (search->is_found || folder.len == 0 || folder.data[0] != '/') return;
    buf_clear(&search->path);
    buf_append_str(&search->path, folder);
    if (folder.data[folder.len - 1] != '/') buf_append_cstr(&search->path, "/");
    buf_append_cstr(&search->path, search->known->file);
    search->is_found = access(buf_cstr(&search->path), F_OK) == 0;
    if (search->is_found) return;
    if (search->places.len > 0) buf_append_cstr(&search->places, ", ");
    buf_append_str(&search->places, folder);
}

static void look_in_list(Search *search, const char *list) {
    if (list == NULL) return;
    Str rest = str_from(list);
    for (int i = 0; i < FOLDERS_MAX && rest.len > 0; i++) {
        const char *colon = memchr(rest.data, ':', rest.len);
        size_t len = colon != NULL ? (size_t)(colon - rest.data) : rest.len;
        look_in(search, (Str){rest.data, len});
        size_t used = colon != NULL ? len + 1 : len;
        rest = (Str){rest.data + used, rest.len - used};
    }
}

// The path of the file that is mapped at `address`, in `text`; null when that cannot be told.
static Str file_at(uintptr_t address, char *text, size_t size) {
    FILE *maps = fopen("/proc/self/maps", "re");
    Str path = STR_NULL;
    while (maps != NULL && str_is_null(path) && fgets(text, (int)size, maps) != NULL) {
        uintptr_t first, end;
        if (sscanf(text, "%" SCNxPTR "-%" SCNxPTR, &first, &end) != 2) continue;
        char *slash = strchr(text, '/');
        if (address < first || address >= end || slash == NULL) continue;
        slash[strcspn(slash, "\n")] = 0;
        path = str_from(slash);
    }
    if (maps != NULL) fclose(maps);
    return path;
}

static void look_near(Search *search) {
    char text[PATH_MAX + 128];
    Str file = file_at((uintptr_t)&look_near, text, sizeof text);
    const char *slash = file.len > 0 ? memrchr(file.data, '/', file.len) : NULL;
    if (slash == NULL) return;
    Str own = {file.data, (size_t)(slash - file.data)};
    static const char from_program[] = "/" ABIDE_MODULES_FROM_PROGRAM;
    static const char *const beside[] = {"", "/abide", from_program};
    Buf folder;
    buf_init(&folder, PATH_MAX);
    for (size_t i = 0; i < COUNT_OF(beside); i++) {
        buf_clear(&folder);
        buf_append_str(&folder, own);
        buf_append_cstr(&folder, beside[i]);
        look_in(search, buf_str(&folder));
    }
    buf_done(&folder);
}

static Status search_run(Search *search, Diag *diag) {
    const Known *wanted = search->known;
    look_in_list(search, secure_getenv("ABIDE_MODULE_PATH")); // [module-4]
    look_near(search);
    look_in(search, STR(ABIDE_MODULES));
    if (search->is_found) return OK;
    return diag_set(diag, ERR_UNSUPPORTED, "STORE_MODULE_NOT_FOUND",
                    "a store on %s needs the module %s, which `make install` installs (option %s); "
                    "set ABIDE_MODULE_PATH to its folder if it is elsewhere. It is not in %s",
                    wanted->server, wanted->file, wanted->option, buf_cstr(&search->places));
}

// ---- what ----

static Status check(const StoreModule *module, const char *path, const Known *wanted, Diag *diag) {
    if (module == NULL) {
        return diag_set(diag, ERR_UNSUPPORTED, "STORE_MODULE_LOAD",
                        "%s is no module of abide for %s: it does not export %s; install the one "
                        "of abide %s",
                        path, wanted->server, wanted->symbol, program_version);
    }
    if (strcmp(module->version, program_version) != 0) { // [module-2]
        return diag_set(diag, ERR_UNSUPPORTED, "STORE_MODULE_VERSION",
                        "%s is the module of abide %.32s, this is abide %s; install both from the "
                        "same version",
                        path, module->version, program_version);
    }
    if (strcmp(module->interface, store_interface) == 0) return OK;
    return diag_set(diag, ERR_UNSUPPORTED, "STORE_MODULE_VERSION",
                    "%s is of another build of abide %s (interface %.32s, this one has %s); "
                    "install both from the same build",
                    path, program_version, module->interface, store_interface);
}

static Status load(const char *path, const Known *wanted, const StoreModule **ret_module,
                   Diag *diag) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        return diag_set(diag, ERR_UNSUPPORTED, "STORE_MODULE_LOAD",
                        "%s cannot be loaded; it needs %s: %s", path, wanted->library,
                        why != NULL ? why : "the loader does not say why");
    }
    const StoreModule *module = dlsym(library, wanted->symbol);
    Status status = check(module, path, wanted, diag);
    if (status != OK) dlclose(library); // nothing of it was called
    else *ret_module = module;          // [module-3]
    return status;
}

Status store_module_get(ModuleName name, const StoreModule **ret_module, Diag *diag) {
    const Known *wanted = &known[name];
    if (!wanted->is_built) {
        return diag_set(diag, ERR_UNSUPPORTED, "STORE_NOT_BUILT",
                        "this abide was built without %s (%s=disabled); build it with %s=enabled, "
                        "or use another store",
                        wanted->server, wanted->option, wanted->option);
    }
    Search search = {.known = wanted};
    buf_init(&search.path, 2 * PATH_MAX);
    buf_init(&search.places, PLACES_SIZE_MAX);
    Status status = search_run(&search, diag);
    if (status == OK) status = load(buf_cstr(&search.path), wanted, ret_module, diag);
    buf_done(&search.path);
    buf_done(&search.places);
    return status;
}
