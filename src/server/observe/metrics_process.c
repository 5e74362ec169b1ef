// What the system says about this process.
//
// The figures and their names are those every Prometheus client has (process_…), so that existing
// dashboards and alerts find them.
//
// Not here: how they are written (metrics_text.c).
#include "server/observe/metrics.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static int64_t count_fds(void) {
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) return -1;
    int64_t count = -3; // ".", "..", and the folder itself
    while (readdir(folder) != NULL) count++;
    closedir(folder);
    return count;
}

static double boot_time(void) {
    FILE *file = fopen("/proc/stat", "r");
    if (file == NULL) return -1;
    char line[256];
    double answer = -1;
    while (answer < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "btime ", 6) == 0) answer = strtod(line + 6, NULL);
    fclose(file);
    return answer;
}

// /proc/self/stat: number, (name), state, then numbers; see proc(5).
static void read_stat(ProcessFigures *figures) {
    char text[1024];
    FILE *file = fopen("/proc/self/stat", "r");
    if (file == NULL) return;
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[len] = 0;
    char *at = strrchr(text, ')'); // the name may hold anything
    if (at == NULL) return;
    double values[24] = {0}; // [0] is field 4 of proc(5)
    at += strlen(") S");
    for (size_t i = 0; i < 24 && *at != 0; i++) values[i] = strtod(at, &at);
    double ticks = (double)sysconf(_SC_CLK_TCK);
    double booted = boot_time();
    figures->threads = (int64_t)values[20 - 4];
    if (booted >= 0) figures->start_time_seconds = booted + values[22 - 4] / ticks;
    figures->virtual_bytes = (int64_t)values[23 - 4];
    figures->resident_bytes = (int64_t)values[24 - 4] * sysconf(_SC_PAGESIZE);
}

void process_figures(ProcessFigures *ret_figures) {
    *ret_figures = (ProcessFigures){-1, -1, -1, -1, -1, -1, -1};
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        ret_figures->cpu_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        ret_figures->max_fds = (int64_t)limit.rlim_cur;
    ret_figures->open_fds = count_fds();
    read_stat(ret_figures);
}
