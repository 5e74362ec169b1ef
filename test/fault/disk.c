// Disk: see disk.h. A virtual file system for SQLite around the system's own.
//
// What a file would hold after a power failure is kept beside it: its content as of the last
// flush, and the list of changes since. Files are small here, so whole copies are cheap.
//   [disk-8] Creating and removing files is taken to survive at once.
//   [disk-9] One process, one thread.
#include "fault/disk.h"
#include "base/containers/vec.h"
#include "base/env.h"
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTOR = 512, PATH_SIZE = 256, IMAGES_MAX = 16 };

typedef struct Change { // a write, or a truncation when data is NULL
    int64_t offset;
    int64_t size;
    char *data;
} Change;

typedef struct Image { // one file
    char path[PATH_SIZE];
    char *data; // as of the last flush
    int64_t size;
    VEC(Change) changes; // dirty
    VEC(Change) lost;    // [disk-6] in the file and not on the disk; without data
} Image;

typedef struct DiskFile {
    sqlite3_file base;
    Image *image; // NULL: a temporary file
    sqlite3_file *real;
} DiskFile;

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    sqlite3_io_methods methods;
    DiskFault fault;
    int64_t number;
    uint64_t random;
    int64_t count;
    int64_t read_count;
    bool has_failed;
    bool is_watching; // images are kept
    DiskLife life;    // kept_path NULL: none
    int64_t flush_count;
    Image images[IMAGES_MAX];
} disk;

// ---- images ----

static void image_clear(Image *image) {
    for (size_t i = 0; i < image->changes.count; i++) free(image->changes.data[i].data);
    vec_free(&image->changes);
    vec_free(&image->lost);
    free(image->data);
    *image = (Image){0};
}

static void image_load(Image *image) {
    int file = open(image->path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    image->size = lseek(file, 0, SEEK_END);
    image->data = malloc((size_t)image->size + 1);
    if (pread(file, image->data, (size_t)image->size, 0) != image->size) abort();
    close(file);
}

static Image *image_find(const char *path, bool is_made) {
    Image *unused = NULL;
    for (int i = 0; i < IMAGES_MAX; i++) {
        if (strcmp(disk.images[i].path, path) == 0) return &disk.images[i];
        if (disk.images[i].path[0] == '\0' && !unused) unused = &disk.images[i];
    }
    if (!is_made) return NULL;
    if (!unused) abort();
    snprintf(unused->path, sizeof(unused->path), "%s", path);
    image_load(unused);
    return unused;
}

static void image_resize(Image *image, int64_t size) {
    image->data = realloc(image->data, (size_t)size + 1);
    if (size > image->size) memset(image->data + image->size, 0, (size_t)(size - image->size));
    image->size = size;
}

static void image_apply(Image *image, int64_t offset, const char *data, int64_t size) {
    if (offset + size > image->size) image_resize(image, offset + size);
    memcpy(image->data + offset, data, (size_t)size);
}

static void image_note(Image *image, int64_t offset, const void *data, int64_t size) {
    if (!image || !disk.is_watching) return;
    Change change = {.offset = offset, .size = size};
    if (data) {
        change.data = malloc((size_t)size + 1);
        memcpy(change.data, data, (size_t)size);
    }
    vec_push(&image->changes, change);
}

static void change_apply(Image *image, const Change *change) {
    if (change->data) image_apply(image, change->offset, change->data, change->size);
    else image_resize(image, change->size);
}

static void image_flush(Image *image) {
    if (!image) return;
    for (size_t i = 0; i < image->changes.count; i++) {
        change_apply(image, &image->changes.data[i]);
        free(image->changes.data[i].data);
    }
    vec_clear(&image->changes);
}

// ---- a power failure ----

static bool toss(uint32_t percent) { return random_next(&disk.random) % 100 < percent; }

// Sector by sector, as a device writes; each sector is whole or not there.
static void change_apply_torn(Image *image, const Change *change) {
    int64_t end = change->offset + change->size;
    for (int64_t at = change->offset; at < end;) {
        int64_t next = (at / SECTOR + 1) * SECTOR;
        if (next > end) next = end;
        if (toss(50)) image_apply(image, at, change->data + (at - change->offset), next - at);
        at = next;
    }
}

static void image_lose(Image *image, uint32_t manner) {
    size_t kept = image->changes.count > 0 ? random_next(&disk.random) % image->changes.count : 0;
    for (size_t i = 0; i < image->changes.count; i++) {
        const Change *change = &image->changes.data[i];
        bool is_kept = manner == 0 ? false : manner == 1 ? i < kept : toss(60);
        bool is_torn = manner != 0 && change->data && (manner == 1 ? i == kept : toss(20));
        if (is_torn) change_apply_torn(image, change);
        else if (is_kept) change_apply(image, change);
    }
    int file = open(image->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) abort();
    if (pwrite(file, image->data ? image->data : "", (size_t)image->size, 0) != image->size) {
        abort();
    }
    close(file);
}

static void images_lose(void) {
    uint32_t manner = (uint32_t)(random_next(&disk.random) % 3); // all, the end, anything
    for (int i = 0; i < IMAGES_MAX; i++) {
        if (disk.images[i].path[0]) image_lose(&disk.images[i], manner);
    }
}

static void power_fail(void) {
    for (int i = 0; i < IMAGES_MAX; i++) {
        Image *image = &disk.images[i];
        if (image->path[0] && access(image->path, F_OK) != 0) image_clear(image);
    }
    images_lose();
    _exit(DISK_EXIT);
}

// ---- a disk that lives longer than a process, [disk-6] ----

static bool is_dirty(const Image *image, const Change *range) {
    for (size_t i = 0; i < image->changes.count; i++) {
        const Change *change = &image->changes.data[i];
        bool is_beside = change->offset + change->size <= range->offset ||
                         range->offset + range->size <= change->offset;
        if (!change->data || !is_beside) return true;
    }
    return false;
}

// Some of what is clean and not on the disk is dropped from memory: the file is read from the disk
// again. It is written through `real` when the file is open: closing another descriptor would drop
// the locks on it.
static void image_evict(Image *image, sqlite3_file *real) {
    int file = real ? -1 : open(image->path, O_RDWR | O_CLOEXEC);
    sqlite3_int64 size = real ? 0 : lseek(file, 0, SEEK_END);
    if (real) real->pMethods->xFileSize(real, &size);
    for (size_t i = 0; i < image->lost.count; i++) {
        const Change *range = &image->lost.data[i];
        bool is_cut_off = range->offset + range->size > size;
        if (toss(60) || is_cut_off || is_dirty(image, range)) continue;
        char *data = calloc(1, (size_t)range->size + 1);
        int64_t there = image->size - range->offset;
        if (there > range->size) there = range->size;
        if (there > 0) memcpy(data, image->data + range->offset, (size_t)there);
        bool is_written =
            real ? real->pMethods->xWrite(real, data, (int)range->size, range->offset) == SQLITE_OK
                 : pwrite(file, data, (size_t)range->size, range->offset) == range->size;
        if (!is_written) abort();
        free(data);
    }
    if (file >= 0) close(file);
}

static void image_fail_flush(Image *image, sqlite3_file *real) {
    if (!image) return;
    for (size_t i = 0; i < image->changes.count; i++) {
        Change *change = &image->changes.data[i];
        if (!change->data || toss(30)) {
            change_apply(image, change);
        } else {
            if (toss(30)) change_apply_torn(image, change);
            vec_push(&image->lost, ((Change){.offset = change->offset, .size = change->size}));
        }
        free(change->data);
    }
    vec_clear(&image->changes);
    if (toss(15)) image_evict(image, real);
}

static void changes_keep(FILE *file, const Change *changes, size_t count) {
    fwrite(&count, sizeof(count), 1, file);
    for (size_t i = 0; i < count; i++) {
        fwrite(&changes[i], sizeof(Change), 1, file);
        if (changes[i].data) fwrite(changes[i].data, 1, (size_t)changes[i].size, file);
    }
}

static void keep_images(void) {
    FILE *file = fopen(disk.life.kept_path, "we");
    if (!file) abort();
    for (int i = 0; i < IMAGES_MAX; i++) {
        const Image *image = &disk.images[i];
        if (!image->path[0]) continue;
        fwrite(image, sizeof(*image), 1, file);
        if (image->size > 0) fwrite(image->data, 1, (size_t)image->size, file);
        changes_keep(file, image->changes.data, image->changes.count);
        changes_keep(file, image->lost.data, image->lost.count);
    }
    if (fclose(file) != 0) abort();
}

static void take(FILE *file, void *data, int64_t size) {
    if (fread(data, 1, (size_t)size, file) != (size_t)size) abort();
}

static Change change_take(FILE *file) {
    Change change;
    take(file, &change, sizeof(change));
    if (change.data) {
        change.data = malloc((size_t)change.size + 1);
        take(file, change.data, change.size);
    }
    return change;
}

static void images_take(const char *kept_path) {
    FILE *file = fopen(kept_path, "re");
    if (!file) return; // the first life
    Image kept;
    for (int i = 0; fread(&kept, sizeof(kept), 1, file) == 1; i++) {
        size_t count = 0;
        Image *image = &disk.images[i];
        *image = (Image){.size = kept.size, .data = malloc((size_t)kept.size + 1)};
        memcpy(image->path, kept.path, sizeof(image->path));
        take(file, image->data, image->size);
        take(file, &count, sizeof(count));
        for (size_t k = 0; k < count; k++) vec_push(&image->changes, change_take(file));
        take(file, &count, sizeof(count));
        for (size_t k = 0; k < count; k++) vec_push(&image->lost, change_take(file));
    }
    fclose(file);
}

// Counts one access; answers whether it shall fail. Does not return when the process ends here.
static bool access_fails(DiskFile *file, const void *data, int size, int64_t offset) {
    disk.count++;
    bool is_due = disk.number != 0 && disk.count == disk.number;
    if (disk.fault == DISK_FULL && disk.number != 0 && disk.count >= disk.number) {
        if (!data) return false; // flushing and removing need no space
        is_due = true;
    }
    if (!is_due) return false;
    bool is_partial = data && size > 1 && disk.fault != DISK_ERROR && disk.fault != DISK_POWER;
    if (is_partial) {
        int half = size / 2;
        file->real->pMethods->xWrite(file->real, data, half, offset);
        image_note(file->image, offset, data, half);
    }
    switch (disk.fault) {
    case DISK_KILL:
        if (disk.life.kept_path) keep_images();
        raise(SIGKILL);
        abort();
    case DISK_POWER:
        if (data) image_note(file->image, offset, data, size);
        power_fail();
        abort();
    case DISK_FULL:
    case DISK_ERROR: disk.has_failed = true; return true;
    default: return false;
    }
}

// ---- files ----

static DiskFile *disk_file(sqlite3_file *file) { return (DiskFile *)(void *)file; }
static sqlite3_file *real_of(sqlite3_file *file) { return disk_file(file)->real; }

static int disk_close(sqlite3_file *file) { return real_of(file)->pMethods->xClose(real_of(file)); }

static int disk_read(sqlite3_file *file, void *data, int size, sqlite3_int64 offset) {
    disk.read_count++;
    if (disk.fault == DISK_READ_ERROR && disk.read_count == disk.number) {
        disk.has_failed = true;
        return SQLITE_IOERR_READ;
    }
    return real_of(file)->pMethods->xRead(real_of(file), data, size, offset);
}

static int disk_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset) {
    DiskFile *self = disk_file(file);
    if (access_fails(self, data, size, offset)) {
        return disk.fault == DISK_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    }
    image_note(self->image, offset, data, size);
    return self->real->pMethods->xWrite(self->real, data, size, offset);
}

static int disk_truncate(sqlite3_file *file, sqlite3_int64 size) {
    DiskFile *self = disk_file(file);
    if (access_fails(self, NULL, 0, 0)) return SQLITE_IOERR_TRUNCATE;
    image_note(self->image, 0, NULL, size);
    return self->real->pMethods->xTruncate(self->real, size);
}

static int disk_sync(sqlite3_file *file, int flags) {
    (void)flags; // [disk-5]
    DiskFile *self = disk_file(file);
    if (access_fails(self, NULL, 0, 0)) return SQLITE_IOERR_FSYNC;
    disk.flush_count++;
    int64_t since = disk.flush_count - disk.life.fail_from;
    if (since >= 0 && since < disk.life.fail_count) {
        disk.has_failed = true;
        image_fail_flush(self->image, self->real);
        return SQLITE_IOERR_FSYNC;
    }
    image_flush(self->image);
    return SQLITE_OK;
}

static int disk_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}
static int disk_lock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xLock(real_of(file), level);
}
static int disk_unlock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}
static int disk_check_lock(sqlite3_file *file, int *result) {
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), result);
}
static int disk_control(sqlite3_file *file, int code, void *argument) {
    return real_of(file)->pMethods->xFileControl(real_of(file), code, argument);
}
static int disk_sector_size(sqlite3_file *file) {
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}
static int disk_characteristics(sqlite3_file *file) {
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}
static int disk_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret) {
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, ret);
}
static int disk_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}
static void disk_shm_barrier(sqlite3_file *file) {
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}
static int disk_shm_unmap(sqlite3_file *file, int is_deleted) {
    return real_of(file)->pMethods->xShmUnmap(real_of(file), is_deleted);
}

static int disk_open(sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *file, int flags,
                     int *ret_flags) {
    (void)vfs;
    DiskFile *self = disk_file(file);
    *self = (DiskFile){.real = (sqlite3_file *)(void *)((char *)file + sizeof(DiskFile))};
    bool is_kept =
        path && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL));
    if (is_kept && disk.is_watching) self->image = image_find(path, true);
    int code = disk.real->xOpen(disk.real, path, self->real, flags, ret_flags);
    if (self->real->pMethods) self->base.pMethods = &disk.methods;
    return code;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int is_synced) {
    (void)vfs;
    DiskFile none = {0};
    if (access_fails(&none, NULL, 0, 0)) return SQLITE_IOERR_DELETE;
    Image *image = image_find(path, false);
    if (image) image_clear(image);
    return disk.real->xDelete(disk.real, path, is_synced);
}

void disk_install(void) {
    disk.real = sqlite3_vfs_find(NULL);
    disk.vfs = *disk.real;
    disk.vfs.zName = "faulty";
    disk.vfs.szOsFile = (int)sizeof(DiskFile) + disk.real->szOsFile;
    disk.vfs.pNext = NULL;
    disk.vfs.xOpen = disk_open;
    disk.vfs.xDelete = disk_delete;
    disk.methods = (sqlite3_io_methods){
        .iVersion = 2, // no memory mapping: it would pass by unseen
        .xClose = disk_close,
        .xRead = disk_read,
        .xWrite = disk_write,
        .xTruncate = disk_truncate,
        .xSync = disk_sync,
        .xFileSize = disk_size,
        .xLock = disk_lock,
        .xUnlock = disk_unlock,
        .xCheckReservedLock = disk_check_lock,
        .xFileControl = disk_control,
        .xSectorSize = disk_sector_size,
        .xDeviceCharacteristics = disk_characteristics,
        .xShmMap = disk_shm_map,
        .xShmLock = disk_shm_lock,
        .xShmBarrier = disk_shm_barrier,
        .xShmUnmap = disk_shm_unmap,
    };
    if (sqlite3_vfs_register(&disk.vfs, 1) != SQLITE_OK) abort();
}

void disk_arm(DiskFault fault, int64_t number, uint64_t seed) {
    for (int i = 0; i < IMAGES_MAX; i++) image_clear(&disk.images[i]);
    disk.fault = fault;
    disk.number = number;
    disk.random = seed * 0x9e3779b97f4a7c15u + 1;
    disk.count = disk.read_count = disk.flush_count = 0;
    disk.has_failed = false;
    disk.is_watching = fault == DISK_POWER;
    disk.life = (DiskLife){0};
}

void disk_begin_life(const DiskLife *life) {
    disk_arm(DISK_KILL, life->end_at, life->seed);
    disk.is_watching = true;
    disk.life = *life;
    images_take(life->kept_path);
    if (toss(80)) return;
    for (int i = 0; i < IMAGES_MAX; i++) {
        if (disk.images[i].path[0]) image_evict(&disk.images[i], NULL);
    }
}

void disk_end_life(void) { keep_images(); }

void disk_lose_power(const char *kept_path, uint64_t seed) {
    disk_arm(DISK_GOOD, 0, seed);
    images_take(kept_path);
    images_lose();
    disk_arm(DISK_GOOD, 0, 0);
}

void disk_repair(void) {
    disk.fault = DISK_GOOD;
    disk.number = 0;
}

int64_t disk_count(void) { return disk.count; }
int64_t disk_read_count(void) { return disk.read_count; }
bool disk_has_failed(void) { return disk.has_failed; }
