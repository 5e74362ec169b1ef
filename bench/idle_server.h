// The real server on the file of many waiting runs.
#pragma once
#include <stdint.h>

// Starts it, kills it, starts it again: time until a released script has gone on, and memory.
void bench_idle_server(const char *directory, const char *group, int64_t count, double limit_ms);
