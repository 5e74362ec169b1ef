// What benchmarks share: time, temporary files, and the two outputs (JSON lines and a table).
#pragma once
#include <stdint.h>

double bench_now(void); // seconds, monotonic
// One figure: a JSON line on stdout, a table row on stderr. limit 0 = it has none.
void bench_report(const char *name, double value, const char *unit, double limit);
// A fresh directory on the file system of the build; removed by bench_remove.
char *bench_directory(void);
void bench_remove(char *directory);
int64_t bench_file_size(const char *directory); // of everything in it
int64_t bench_rss(void);                        // bytes
// The quantile q of `count` values; sorts them.
double bench_quantile(double *values, int count, double q);
