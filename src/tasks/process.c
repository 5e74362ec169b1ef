// Process: spawn, feed, listen, wait; poll() over the pipes and the process itself.
//
// posix_spawn instead of fork, because the caller has threads. A pidfd tells when the command has
// ended, so that nothing is asked in a loop and a grandchild that keeps a pipe open holds up
// nobody. Invariants [exec-1]-[exec-5] are in exec.h.
//
// Not here: what the task makes of it (exec.c).
#include "base/env.h"
#include "tasks/exec.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Pipe {
    int ours, theirs; // -1 = closed
} Pipe;

typedef struct Process {
    pid_t id;
    int handle; // pidfd
    Pipe input, output, errors;
    size_t fed; // bytes of the input that are written
} Process;

static void close_end(int *descriptor) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
}

static bool open_pipe(Pipe *ret_pipe, bool is_input) {
    int ends[2];
    *ret_pipe = (Pipe){-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    *ret_pipe = is_input ? (Pipe){ends[1], ends[0]} : (Pipe){ends[0], ends[1]};
    return fcntl(ret_pipe->ours, F_SETFL, O_NONBLOCK) == 0;
}

static void close_all(Process *process) {
    close_end(&process->input.ours);
    close_end(&process->input.theirs);
    close_end(&process->output.ours);
    close_end(&process->output.theirs);
    close_end(&process->errors.ours);
    close_end(&process->errors.theirs);
    close_end(&process->handle);
}

// ---- starting ----

static int spawn(const ProcessSpec *spec, Process *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, process->input.theirs, 0);
    posix_spawn_file_actions_adddup2(&actions, process->output.theirs, 1);
    posix_spawn_file_actions_adddup2(&actions, process->errors.theirs, 2);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3); // [exec-2] whoever forgot close-on-exec
    if (spec->cwd != NULL) posix_spawn_file_actions_addchdir_np(&actions, spec->cwd);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0); // [exec-1]
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    int code = posix_spawnp(&process->id, spec->argv[0], &actions, &attributes, spec->argv,
                            spec->environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static Status start(const ProcessSpec *spec, Process *process, Diag *diag) {
    *process = (Process){.handle = -1, .input = {-1, -1}, .output = {-1, -1}, .errors = {-1, -1}};
    if (!open_pipe(&process->input, true) || !open_pipe(&process->output, false) ||
        !open_pipe(&process->errors, false))
        return diag_set(diag, ERR_UNAVAILABLE, "EXEC_FAILED", "no pipe for %s: %s", spec->argv[0],
                        strerror(errno));
    int code = spawn(spec, process);
    if (code != 0)
        return diag_set(diag, ERR_NOT_FOUND, "EXEC_FAILED", "cannot start %s%s%s: %s",
                        spec->argv[0], spec->cwd != NULL ? " in " : "",
                        spec->cwd != NULL ? spec->cwd : "", strerror(code));
    process->handle = (int)syscall(SYS_pidfd_open, process->id, 0);
    close_end(&process->input.theirs);
    close_end(&process->output.theirs);
    close_end(&process->errors.theirs);
    if (process->handle >= 0) return OK;
    int error = errno;
    kill(-process->id, SIGKILL);
    waitpid(process->id, NULL, 0);
    return diag_set(diag, ERR_UNAVAILABLE, "EXEC_FAILED", "exec needs Linux 5.3 or newer: %s",
                    strerror(error));
}

// ---- talking ----

static void feed(Process *process, Str input) {
    while (process->fed < input.len) {
        ssize_t wrote =
            write(process->input.ours, input.data + process->fed, input.len - process->fed);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0 && errno == EAGAIN) return;
        if (wrote < 0) break; // it does not want the rest
        process->fed += (size_t)wrote;
    }
    close_end(&process->input.ours);
}

static void keep_tail(ProcessEnd *end, const char *data, size_t len) {
    if (len >= PROCESS_TAIL_SIZE) {
        memcpy(end->tail, data + len - PROCESS_TAIL_SIZE, PROCESS_TAIL_SIZE);
        end->tail_len = PROCESS_TAIL_SIZE;
        return;
    }
    size_t room = PROCESS_TAIL_SIZE - len;
    if (end->tail_len > room) {
        memmove(end->tail, end->tail + end->tail_len - room, room);
        end->tail_len = room;
    }
    memcpy(end->tail + end->tail_len, data, len);
    end->tail_len += len;
}

// Reads what is there; `output` is NULL for the standard error.
static void listen_to(const ProcessSpec *spec, int *descriptor, Buf *output, ProcessEnd *end) {
    char chunk[16384];
    while (*descriptor >= 0) {
        ssize_t len = read(*descriptor, chunk, sizeof chunk);
        if (len < 0 && errno == EINTR) continue;
        if (len < 0 && errno == EAGAIN) return;
        if (len <= 0) {
            close_end(descriptor);
            return;
        }
        if (output == NULL) {
            keep_tail(end, chunk, (size_t)len);
            if (spec->on_error_text != NULL)
                spec->on_error_text(spec->context, (Str){chunk, (size_t)len});
            continue;
        }
        buf_append(output, chunk, (size_t)len);
        if (output->is_overflown) {
            end->is_too_loud = true;
            return;
        }
    }
}

typedef struct Deadline {
    uint64_t began_ns;
    int64_t after_ms;
    bool is_last; // it has been asked to end
} Deadline;

static int64_t time_left(const Deadline *deadline) {
    uint64_t passed_ns = env_monotonic_ns(env_system()) - deadline->began_ns;
    return deadline->after_ms - (int64_t)(passed_ns / 1000000);
}

// [exec-5] False when it has had its chance.
static bool ask_to_end(const Process *process, const ProcessSpec *spec, Deadline *deadline) {
    if (deadline->is_last || spec->grace_ms <= 0) return false;
    kill(-process->id, SIGTERM);
    *deadline = (Deadline){env_monotonic_ns(env_system()), spec->grace_ms, true};
    return true;
}

// Until the command has ended or must be ended.
static void converse(Process *process, const ProcessSpec *spec, Buf *output, ProcessEnd *end) {
    Deadline deadline = {env_monotonic_ns(env_system()), spec->timeout_ms, false};
    for (;;) {
        int64_t left_ms = time_left(&deadline);
        if (left_ms <= 0) {
            end->is_late |= !deadline.is_last;
            if (!ask_to_end(process, spec, &deadline)) return;
            continue;
        }
        bool is_stoppable = spec->stop != NULL && !deadline.is_last;
        struct pollfd watched[] = {
            {.fd = process->handle, .events = POLLIN},
            {.fd = process->input.ours, .events = POLLOUT},
            {.fd = process->output.ours, .events = POLLIN},
            {.fd = process->errors.ours, .events = POLLIN},
            {.fd = is_stoppable ? *spec->stop : -1, .events = POLLIN},
        };
        int count = poll(watched, 5, left_ms < INT32_MAX ? (int)left_ms : INT32_MAX);
        if (count < 0 && errno != EINTR) return;
        if (count <= 0) continue;
        if (watched[1].revents != 0) feed(process, spec->input);
        // Also what is in the pipes when it has ended is taken.
        listen_to(spec, &process->output.ours, output, end);
        listen_to(spec, &process->errors.ours, NULL, end);
        if (end->is_too_loud || watched[0].revents != 0) return;
        if (watched[4].revents == 0) continue;
        end->is_stopped = true;
        if (!ask_to_end(process, spec, &deadline)) return;
    }
}

// [exec-4] A broken pipe is an error of write(), not a signal, while the command runs.
static void hold_broken_pipes(sigset_t *ret_before) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &wanted, ret_before);
}

static void release_broken_pipes(const sigset_t *before) {
    if (sigismember(before, SIGPIPE)) return; // it was held before us: its owner sees to it
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGPIPE);
    struct timespec at_once = {0};
    while (sigtimedwait(&wanted, NULL, &at_once) == SIGPIPE) continue;
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

Status process_run(const ProcessSpec *spec, Buf *output, ProcessEnd *ret_end, Diag *diag) {
    Process process;
    *ret_end = (ProcessEnd){.exit_status = -1};
    Status status = start(spec, &process, diag);
    if (status != OK) {
        close_all(&process);
        return status;
    }
    sigset_t before;
    hold_broken_pipes(&before);
    converse(&process, spec, output, ret_end);
    release_broken_pipes(&before);
    kill(-process.id, SIGKILL); // [exec-1] it is not reaped yet, so the number is still its own
    int state = 0;
    while (waitpid(process.id, &state, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(state)) ret_end->exit_status = WEXITSTATUS(state);
    else if (WIFSIGNALED(state)) ret_end->signal = WTERMSIG(state);
    close_all(&process);
    return OK;
}
