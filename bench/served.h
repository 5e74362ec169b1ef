// The real server as a benchmark's child process.
#pragma once
#include <stdint.h>
#include <sys/types.h>

typedef struct Served {
    pid_t process;
    uint16_t port; // of 127.0.0.1
    int log;       // its standard error; open as long as it lives, for it may say more
} Served;

// The path of a program of this build.
const char *built_program(const char *name, char *path, size_t size);
// Starts it on that store and waits until it listens; ends the program when it does not.
Served served_start(const char *store_url);
void served_end(Served *served, int signal_number); // and waits for it
int64_t served_rss(const Served *served);           // bytes
