// Modules that are part of the program: for tests, which look at the inside of a back end, run it
// under sanitizers and must not depend on where a file is. Both back ends are there, or the tests
// are not built at all.
//
// Not here: finding one on disk (module_load.c). A program is linked with one of the two.
#include "store/module.h"

extern const StoreModule store_module_postgres, store_module_redis;

Status store_module_get(ModuleName name, const StoreModule **ret_module, Diag *diag) {
    (void)diag;
    *ret_module = name == MODULE_POSTGRES ? &store_module_postgres : &store_module_redis;
    return OK;
}
