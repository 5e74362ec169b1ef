// StoreModule: a back end for a database server that lives in a shared object of its own, so that
// its client library (libpq, hiredis) is loaded only by those who use it (docs/decisions/0033).
//
// A module makes what remote.h describes, the kernel makes a store of it. It calls nothing of its
// host: what it needs of base/ and model/ is inside it. So it works in the program, in libabide.so
// however that was loaded, and in a program that has libabide.a inside.
//
//   [module-1] `version` and `interface` are the first two members for ever, so that any version
//        can see that a module is of another.
//   [module-2] Nothing else of a module is looked at unless both are the host's own: structs of
//        base/, model/ and store/ go through it, and those differ from one version to the next.
//   [module-3] A module is never unloaded: its client library may have threads and exit handlers.
//   [module-4] The current folder is never searched, and nothing is that another user chose: the
//        environment does not count in a program with the rights of somebody else.
#pragma once
#include "store/remote/remote.h"
#include "store/store.h"

typedef struct RemotePair {
    Remote *remote; // NULL when it was opened to be read only
    RemoteReader *reader;
} RemotePair;

typedef struct StoreModule {
    const char *version;   // of abide
    const char *interface; // store_interface of what it was built from
    // `url` is the whole of it.
    MUST_CHECK Status (*open)(Str url, const StoreConfig *config, RemotePair *ret_pair, Diag *diag);
} StoreModule;

// A digest of the headers and tables that host and module must have in common (tools/fingerprint).
extern const char store_interface[];

// What a module exports, by the name of its back end.
#define STORE_MODULE(name)                                                                         \
    extern const StoreModule store_module_##name;                                                  \
    __attribute__((visibility("default"))) const StoreModule store_module_##name

typedef enum ModuleName { MODULE_POSTGRES, MODULE_REDIS, MODULE_COUNT } ModuleName;

// What is shipped loads modules (module_load.c); tests have them inside (module_builtin.c).
// Codes: STORE_NOT_BUILT, STORE_MODULE_NOT_FOUND, STORE_MODULE_LOAD, STORE_MODULE_VERSION.
MUST_CHECK Status store_module_get(ModuleName name, const StoreModule **ret_module, Diag *diag);
