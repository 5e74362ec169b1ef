// Curl: the functions of libcurl that http uses, found when they are first needed.
//
// libcurl brings some thirty further libraries, which cost every start of a program milliseconds
// and megabytes; so it is loaded by the first http task, not with the program.
#pragma once
#include "base/diag.h"
#include <curl/curl.h>

typedef struct Curl {
    CURLcode (*global_init)(long flags);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
    CURLcode (*easy_perform)(CURL *handle);
    CURLcode (*easy_getinfo)(CURL *handle, CURLINFO info, ...);
    void (*easy_cleanup)(CURL *handle);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *line);
    void (*slist_free_all)(struct curl_slist *list);
} Curl;

// Thread-safe; loads once for the process. NULL: it is not there, `diag` says so.
const Curl *curl_get(Diag *diag);
