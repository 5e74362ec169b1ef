// Disk: a layer under SQLite that counts what reaches the disk, and lets the n-th of it go wrong.
//
//   [K1] Counted are writes, flushes, truncations and removals of files; reads have a count of
//        their own. Number n stands for the same thing in every repetition of the same script.
//   [K2] DISK_KILL ends the process at number n, in the middle of a write: everything before is in
//        the files, as after kill -9.
//   [K3] DISK_POWER ends it as a power failure does: of what was written and not flushed, some is
//        lost, in any order, and some arrives in part, in units of a sector.
//   [K4] DISK_FULL: from number n on writes fail for want of space, having written a part, until
//        disk_repair. DISK_ERROR: number n fails, and nothing else. DISK_READ_ERROR: the n-th read.
//   [K5] Flushing is only noted, not passed on, so a test costs no waiting for a device.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef enum DiskFault {
    DISK_GOOD = 0,
    DISK_KILL,
    DISK_POWER,
    DISK_FULL,
    DISK_ERROR,
    DISK_READ_ERROR
} DiskFault;

enum { DISK_EXIT = 77 }; // how a process ends by DISK_POWER

// Becomes the default of SQLite in this process; once.
void disk_install(void);
// From now on counting from 1; `seed` decides what a power failure loses.
void disk_arm(DiskFault fault, int64_t number, uint64_t seed);
void disk_repair(void); // nothing fails any more; counting goes on
int64_t disk_count(void);
int64_t disk_read_count(void);
bool disk_has_failed(void); // since disk_arm
