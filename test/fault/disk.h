// Disk: a layer under SQLite that counts what reaches the disk, and lets the n-th of it go wrong.
//
//   [disk-1] Counted are writes, flushes, truncations and removals of files; reads have a count of
//        their own. Number n stands for the same thing in every repetition of the same script.
//   [disk-2] DISK_KILL ends the process at number n, in the middle of a write: everything before is
//        in the files, as after kill -9.
//   [disk-3] DISK_POWER ends it as a power failure does: of what was written and not flushed, some
//        is lost, in any order, and some arrives in part, in units of a sector.
//   [disk-4] DISK_FULL: from number n on writes fail for want of space, having written a part,
//        until disk_repair. DISK_ERROR: number n fails, and nothing else. DISK_READ_ERROR: the n-th
//        read.
//   [disk-5] Flushing is only noted, not passed on, so a test costs no waiting for a device.
//   [disk-6] A disk lives longer than a process (DiskLife). When a flush fails, what was dirty
//        becomes clean: some of it has reached the disk, whole or in part, and the rest never will,
//        unless it is written again. It can still be read by every process, until it is evicted,
//        which happens now and then, and then the disk's older content is read.
//   [disk-7] A process that ends leaves what is dirty dirty: whoever flushes the file next flushes
//        it.
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
// One process on a disk whose flushes fail now and then. [disk-6]
typedef struct DiskLife {
    const char *kept_path; // a file with what the disk holds: read at the beginning, then written
    int64_t end_at;        // ends as by kill -9 at that access; 0 = when disk_end_life is called
    int64_t fail_from, fail_count; // the flushes that fail, counted from 1
    uint64_t seed;
} DiskLife;
void disk_begin_life(const DiskLife *life);
void disk_end_life(void);
// The files become what the disk holds once the power has failed; one of many possible outcomes,
// chosen by the seed. Not within a life.
void disk_lose_power(const char *kept_path, uint64_t seed);

int64_t disk_count(void);
int64_t disk_read_count(void);
bool disk_has_failed(void); // since disk_arm
