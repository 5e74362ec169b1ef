// The callbacks that server.c hands to libmicrohttpd.
#pragma once
#include <microhttpd.h>

void *http_begin_request(void *context, const char *uri, struct MHD_Connection *connection);
void http_end_request(void *context, struct MHD_Connection *connection, void **request,
                      enum MHD_RequestTerminationCode code);
enum MHD_Result http_serve(void *context, struct MHD_Connection *connection, const char *url,
                           const char *method, const char *version, const char *data,
                           size_t *data_size, void **request);
