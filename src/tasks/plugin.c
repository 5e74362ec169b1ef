// Plug-ins: shared objects that add task functions (or anything else of abide.h) to an engine.
//
//   [plugin-1] Nothing of a plug-in is called before its version was looked at.
//   [plugin-2] It stays loaded until the engine has closed and what it registered with
//        abide_on_close has run, because its code is called until then.
//   [plugin-3] One whose init fails is not unloaded before the engine closes either: it may have
//        registered something.
#include "tasks/tasks.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((format(printf, 4, 5))) static int refuse(abide_error *error, int code,
                                                        const char *name, const char *format, ...) {
    if (error == NULL) return code;
    *error = (abide_error){.code = code};
    snprintf(error->name, sizeof error->name, "%s", name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}

static void unload(void *library) { dlclose(library); }

// The loader searches its own folders for a bare name; a user who writes one means the file here.
static const char *with_folder(Arena *arena, const char *path) {
    return strchr(path, '/') != NULL ? path : arena_printf(arena, "./%s", path).data;
}

static int check(const abide_plugin_info *info, const char *path,
                 abide_error *error) { // [plugin-1]
    if (info == NULL)
        return refuse(error, ABIDE_INVALID, "PLUGIN_SYMBOL",
                      "%s is no plug-in of abide: it does not export abide_plugin; write "
                      "ABIDE_PLUGIN(name, init) in one of its files",
                      path);
    if (info->abi != ABIDE_PLUGIN_ABI)
        return refuse(error, ABIDE_INVALID, "PLUGIN_VERSION",
                      "%s is built for version %d of the plug-in interface, this is version %d; "
                      "build it again with this abide.h",
                      path, info->abi, ABIDE_PLUGIN_ABI);
    if (info->init == NULL)
        return refuse(error, ABIDE_INVALID, "PLUGIN_SYMBOL", "%s has no init function", path);
    return ABIDE_OK;
}

static int load(abide_engine *engine, const char *path, abide_error *error) {
    if (access(path, R_OK) != 0)
        return refuse(error, ABIDE_NOT_FOUND, "PLUGIN_NOT_FOUND",
                      "there is no plug-in %s that can be read", path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return refuse(error, ABIDE_INVALID, "PLUGIN_LOAD", "%s cannot be loaded: %s", path,
                      dlerror());
    const abide_plugin_info *info = dlsym(library, "abide_plugin");
    int code = check(info, path, error);
    if (code == ABIDE_OK) code = abide_on_close(engine, unload, library, error); // [plugin-2]
    if (code != ABIDE_OK) {
        dlclose(library);
        return code;
    }
    abide_error cause = {0};
    code = info->init(engine, &cause); // [plugin-3]
    if (code == ABIDE_OK) return ABIDE_OK;
    return refuse(error, code, "PLUGIN_INIT", "plug-in %s did not start: %s",
                  info->name != NULL ? info->name : path,
                  cause.message[0] != 0 ? cause.message : abide_code_name(code));
}

int abide_load_plugin(abide_engine *engine, const char *path, abide_error *error) {
    if (engine == NULL || path == NULL)
        return refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and path are required");
    Arena arena;
    arena_init(&arena);
    int code = load(engine, with_folder(&arena, path), error);
    arena_done(&arena);
    return code;
}
