// Stores on the servers that test/servers/beside.py has started: one place that knows all of them,
// for tests that are compiled once per store.
#pragma once
#include <stdbool.h>
#include <stddef.h>

bool test_server_is(const char *backend); // a server's, not a file's or memory's
// The URL of an empty store of that name; whoever had it open has closed it.
void test_server_store(const char *backend, const char *name, char *ret_url, size_t size);
