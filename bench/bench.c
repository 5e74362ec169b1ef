// What benchmarks share.
//
// Figures go to stdout as JSON lines so that programs can read them, and to stderr as a table for
// people. Nothing passes or fails here.
//
// Not here: what is measured.
#include "bench.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

double bench_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void bench_report(const char *name, double value, const char *unit, double limit) {
    double ratio = limit > 0 ? value / limit : 0;
    if (limit > 0)
        printf("{\"bench\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",\"limit\":%.6g,\"ratio\":%.4g}\n",
               name, value, unit, limit, ratio);
    else printf("{\"bench\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"}\n", name, value, unit);
    fflush(stdout);
    if (limit > 0)
        fprintf(stderr, "  %-34s %14.6g %-10s limit %12.6g  ratio %.3f\n", name, value, unit, limit,
                ratio);
    else fprintf(stderr, "  %-34s %14.6g %s\n", name, value, unit);
}

char *bench_directory(void) {
    const char *base = getenv("ABIDE_BUILD_DIR");
    char *path = malloc(4096);
    snprintf(path, 4096, "%s/bench-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(path) == NULL) {
        perror(path);
        exit(1);
    }
    return path;
}

static int64_t walk(const char *directory, int is_removed) {
    int64_t total = 0;
    DIR *dir = opendir(directory);
    if (dir == NULL) return 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        char path[5000];
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (stat(path, &info) == 0) total += info.st_size;
        if (is_removed) unlink(path);
    }
    closedir(dir);
    return total;
}

int64_t bench_file_size(const char *directory) { return walk(directory, 0); }

void bench_remove(char *directory) {
    walk(directory, 1);
    rmdir(directory);
    free(directory);
}

int64_t bench_rss(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    long size = 0, resident = 0;
    if (file == NULL) return 0;
    if (fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
    fclose(file);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double bench_quantile(double *values, int count, double q) {
    qsort(values, (size_t)count, sizeof(double), compare);
    int at = (int)(q * (count - 1) + 0.5);
    return values[at];
}
