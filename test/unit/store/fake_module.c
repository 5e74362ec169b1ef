// A module as another abide would bring it: unit/store/module.c is handed it by its path.
#include "store/module.h"

// [module-2] A host that calls this has not looked at the version.
static Status open_never(Str url, const StoreConfig *config, RemotePair *ret_pair, Diag *diag) {
    (void)url, (void)config, (void)ret_pair, (void)diag;
    __builtin_trap();
}

STORE_MODULE(postgres) = {FAKE_VERSION, FAKE_INTERFACE, open_never};
