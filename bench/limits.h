// The machine's own limits, measured beside the engine in the same run.
#pragma once

// Median seconds of a 4 KiB append with fdatasync.
double limit_fdatasync(const char *directory);
// Rows per second of a bare SQLite loop (WAL, synchronous=FULL) that inserts rows of a checkpoint's
// size, that many per transaction.
double limit_rows(const char *directory, int rows_per_commit, double seconds);
// Measures and reports them all; answers the rate at 100 rows per transaction.
double limit_report(const char *directory, double *ret_fsync_seconds);
