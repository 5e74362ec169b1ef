// Curl: libcurl through dlopen (curl.h says why).
//
// The shared library is asked for by the name of its interface (.so.4), which has been the same
// since 2006; options are passed by number, so that the header decides what is possible.
//   [curl-1] Either every function was found or none is used.
//   [curl-2] Never unloaded: its own threads and tables may outlive any engine.
#include "tasks/curl.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static Curl curl;
static bool is_loaded; // [curl-1]
static char trouble[256];

static bool find(void *library, const char *name, void *ret_function) {
    void *symbol = dlsym(library, name);
    memcpy(ret_function, &symbol, sizeof symbol); // POSIX: both kinds of pointer are alike
    return symbol != NULL;
}

static void load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    bool is_found = library != NULL && find(library, "curl_global_init", &curl.global_init) &&
                    find(library, "curl_easy_init", &curl.easy_init) &&
                    find(library, "curl_easy_reset", &curl.easy_reset) &&
                    find(library, "curl_easy_setopt", &curl.easy_setopt) &&
                    find(library, "curl_easy_perform", &curl.easy_perform) &&
                    find(library, "curl_easy_getinfo", &curl.easy_getinfo) &&
                    find(library, "curl_easy_cleanup", &curl.easy_cleanup) &&
                    find(library, "curl_slist_append", &curl.slist_append) &&
                    find(library, "curl_slist_free_all", &curl.slist_free_all) &&
                    find(library, "curl_url", &curl.url) &&
                    find(library, "curl_url_set", &curl.url_set) &&
                    find(library, "curl_url_get", &curl.url_get) &&
                    find(library, "curl_url_cleanup", &curl.url_cleanup) &&
                    find(library, "curl_free", &curl.free);
    if (!is_found) {
        const char *text = dlerror();
        snprintf(trouble, sizeof trouble, "%s", text != NULL ? text : "a function is missing");
        return;
    }
    is_loaded = curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    if (!is_loaded) snprintf(trouble, sizeof trouble, "it cannot be initialised");
}

const Curl *curl_get(Diag *diag) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (is_loaded) return &curl;
    (void)diag_set(diag, ERR_UNAVAILABLE, "CURL_MISSING",
                   "HTTP needs libcurl (Debian package libcurl4): %s", trouble);
    return NULL;
}
