// bench-machine: what the machine can do without an engine (limits.c), for programs that compare
// with it.
#include "bench.h"
#include "limits.h"

int main(void) {
    double fsync_seconds;
    char *directory = bench_directory();
    limit_report(directory, &fsync_seconds);
    bench_remove(directory);
    return 0;
}
