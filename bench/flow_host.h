// What benchmarks of the language share: a host in which every task begins and none ends.
#pragma once
#include "flow/flow.h"
#include <stdio.h>
#include <stdlib.h>

// Every answer here must be OK: a benchmark of something that fails measures nothing.
static inline void require(Status status, const Diag *diag) {
    if (status == OK) return;
    fprintf(stderr, "bench: %s\n", diag->message);
    exit(1);
}

static Status host_start(FlowHost *host, const FlowStart *start, Str *ret_handle_id, Diag *diag) {
    (void)host;
    (void)start;
    (void)ret_handle_id;
    (void)diag;
    return OK;
}

static const FlowHostOps host_ops = {.start = host_start};
static FlowHost host = {&host_ops};
