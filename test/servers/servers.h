// Which store a test is about, and stores on the servers that test/servers/beside.py has started:
// one place that knows all of them, for tests that run once per store (the key 'backends' of
// test/meson.build).
#pragma once
#include <stdbool.h>
#include <stddef.h>

// "memory", "sqlite" or a server's name: what ABIDE_TEST_BACKEND says, memory unless told.
const char *test_backend(void);
bool test_backend_is(const char *backend);
bool test_server_is(const char *backend); // a server's, not a file's or memory's
// Where the files of tests are: in memory if possible, as flushing them costs nothing then.
const char *test_folders(void);
// A folder of its own for a test's files. False: there is none.
bool test_folder_new(const char *name, char *ret_path, size_t size);
// With all that is in it; complains if something is left.
void test_folder_remove(const char *path);
// The URL of an empty store of that name; whoever had it open has closed it.
void test_server_store(const char *backend, const char *name, char *ret_url, size_t size);
