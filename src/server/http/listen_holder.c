// Finding the process that listens on a port, in /proc.
//
// The tables of sockets name an inode, and the process that has it open shows it among its
// descriptors, to its own user and to root. What cannot be read is passed over: the answer only
// makes a message better, so nothing here fails.
//
// Not here: listening (listen.c).
#include "server/http/listen_holder.h"
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STATE_LISTEN = 0x0A, FDS_MAX = 65536 };

// The inode of a listening socket on that port; 0 = none in this table.
static unsigned long find_inode(const char *table, uint16_t port) {
    FILE *file = fopen(table, "re");
    unsigned long answer = 0;
    char line[512];
    while (file != NULL && answer == 0 && fgets(line, sizeof line, file) != NULL) {
        unsigned local, state;
        unsigned long inode;
        // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
        int count = sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*s %x %*s %*s %*s %*s %*s %lu", &local,
                           &state, &inode);
        if (count == 3 && local == port && state == STATE_LISTEN) answer = inode;
    }
    if (file != NULL) fclose(file);
    return answer;
}

static bool has_socket(const char *process, unsigned long inode) {
    char path[64], wanted[64], link[64];
    snprintf(path, sizeof path, "/proc/%.20s/fd", process);
    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    DIR *folder = opendir(path);
    if (folder == NULL) return false;
    bool is_it = false;
    const struct dirent *entry;
    for (int i = 0; i < FDS_MAX && !is_it && (entry = readdir(folder)) != NULL; i++) {
        ssize_t len = readlinkat(dirfd(folder), entry->d_name, link, sizeof link - 1);
        if (len <= 0) continue;
        link[len] = 0;
        is_it = strcmp(link, wanted) == 0;
    }
    closedir(folder);
    return is_it;
}

static void describe(const char *process, char ret_text[LISTEN_HOLDER_MAX]) {
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%.20s/comm", process);
    FILE *file = fopen(path, "re");
    if (file != NULL && fgets(name, sizeof name, file) == NULL) name[0] = 0;
    if (file != NULL) fclose(file);
    name[strcspn(name, "\n")] = 0;
    for (char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f) *at = '?'; // a process names itself
    snprintf(ret_text, LISTEN_HOLDER_MAX, name[0] ? "process %.20s (%s)" : "process %.20s%s",
             process, name);
}

void listen_holder(uint16_t port, char ret_text[LISTEN_HOLDER_MAX]) {
    ret_text[0] = 0;
    unsigned long inode = find_inode("/proc/net/tcp", port);
    if (inode == 0) inode = find_inode("/proc/net/tcp6", port);
    DIR *folder = inode != 0 ? opendir("/proc") : NULL;
    if (folder == NULL) return;
    const struct dirent *entry;
    while (ret_text[0] == 0 && (entry = readdir(folder)) != NULL)
        if (isdigit((unsigned char)entry->d_name[0]) && has_socket(entry->d_name, inode))
            describe(entry->d_name, ret_text);
    closedir(folder);
}
