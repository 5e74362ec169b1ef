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
    void (*easy_reset)(CURL *handle);
    CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
    CURLcode (*easy_perform)(CURL *handle);
    CURLcode (*easy_getinfo)(CURL *handle, CURLINFO info, ...);
    void (*easy_cleanup)(CURL *handle);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *line);
    void (*slist_free_all)(struct curl_slist *list);
    CURLU *(*url)(void);
    CURLUcode (*url_set)(CURLU *url, CURLUPart part, const char *text, unsigned int flags);
    CURLUcode (*url_get)(const CURLU *url, CURLUPart part, char **ret_text, unsigned int flags);
    void (*url_cleanup)(CURLU *url);
    void (*free)(void *text); // what url_get answered
} Curl;

// Thread-safe; loads once for the process. NULL: it is not there, `diag` says so.
const Curl *curl_get(Diag *diag);
