// The real server as a child process: start it, look at it, end it.
//
// Not here: talking to it (http.c).
#include "served.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

_Noreturn static void fail(const char *what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

const char *built_program(const char *name, char *path, size_t size) {
    const char *build = getenv("ABIDE_BUILD_DIR");
    snprintf(path, size, "%s/%s", build != NULL ? build : "build", name);
    return path;
}

Served served_start(const char *store_url) {
    Served served = {0};
    char program[4200], line[1000];
    int ends[2];
    built_program("abide", program, sizeof program);
    if (pipe(ends) != 0) fail("no pipe");
    served.process = fork();
    if (served.process == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        execl(program, "abide", "serve", "--store", store_url, "--listen", "127.0.0.1:0",
              (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t used = 0;
    while (served.port == 0 && used + 1 < sizeof line && read(ends[0], line + used, 1) == 1) {
        if (line[used++] != '\n') continue;
        line[used] = 0;
        used = 0;
        const char *at = strstr(line, "listening on http://127.0.0.1:");
        if (at != NULL) served.port = (uint16_t)strtol(strrchr(at, ':') + 1, NULL, 10);
    }
    if (served.port == 0) fail("the server did not start");
    served.log = ends[0];
    return served;
}

void served_end(Served *served, int signal_number) {
    kill(served->process, signal_number);
    waitpid(served->process, NULL, 0);
    close(served->log);
}

int64_t served_rss(const Served *served) {
    char path[64];
    long size = 0, resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)served->process);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%ld %ld", &size, &resident) != 2) fail("no statm");
    fclose(file);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}
