// A load generator for HTTP: many kept-alive connections on one thread, requests pipelined.
//
// Only what a benchmark of our own server needs: answers have a Content-Length or are chunked
// streams that nobody reads to their end. Anything unexpected ends the program.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Http Http;
typedef struct HttpConnection HttpConnection;

// Called for each answer in the order of the requests; it may send further ones.
typedef void (*HttpAnswer)(HttpConnection *connection, int status, char *body, size_t len);

struct HttpConnection {
    Http *http;
    HttpAnswer answer;
    void *context;  // the caller's
    double sent_at; // the caller's
    int fd;
    bool is_dirty;        // has something to be written
    bool is_watching_out; // the socket is full
    char *out, *in;
    size_t out_len, out_sent, out_size, in_len, in_size;
    HttpConnection *next_dirty;
};

struct Http {
    int epoll;
    uint16_t port; // of 127.0.0.1
    HttpConnection *dirty;
    int64_t request_count;
};

void http_init(Http *http, uint16_t port);
void http_done(Http *http); // after its connections
HttpConnection *http_open(Http *http, HttpAnswer answer, void *context);
void http_close(HttpConnection *connection);
// Queues a request; body NULL = none.
void http_send(HttpConnection *connection, const char *method, const char *target, const char *body,
               size_t len);
// Writes what is queued, waits up to that long for answers, and deals them out.
void http_turn(Http *http, int timeout_ms);
