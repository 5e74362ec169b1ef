// Mailbox: how other threads reach the coordinator's.
//
//   [mailbox-1] What is put into a mailbox that has ended is not taken: whoever put it is told at
//        once.
//   [mailbox-2] The reader is woken by whatever is put in, and by nothing else but its deadline.
#pragma once
#include "engine/coordinator/coordinator.h"
#include <pthread.h>

// Something to be done on the coordinator's thread, mostly while the caller waits.
typedef struct ControlCall {
    List link;
    void (*function)(Coordinator *coordinator, void *context);
    void *context;
    struct Semaphore *done; // NULL = nobody does, and the call is freed
} ControlCall;

// Somebody waits until there is nothing to do.
typedef struct SettleCall {
    List link;
    int64_t next_ms; // when there will be; 0 = never
    struct Semaphore *done;
} SettleCall;

// Where the coordinator's thread is in its life.
typedef enum DriverState { DRIVER_RUNS, DRIVER_STOPS, DRIVER_ENDED } DriverState;

typedef struct Mailbox {
    pthread_mutex_t lock; // guards all of it
    pthread_cond_t wake;
    bool is_asleep;
    DriverState state;
    int64_t stop_deadline_ms; // DRIVER_STOPS, by the real clock
    List requests;
    List awaits;
    List called_off; // awaits
    List executed;
    List controls;
    List settles;
    bool is_store_changed; // another node has written
    bool is_store_heard;   // it answered a read while it was thought to be away
    bool is_settle_new;    // one came that the coordinator's thread has not looked at
    Commit *committed;     // back from the committer, with its outcome; NULL = none
    Status commit_status;
    Diag commit_diag;
} Mailbox;

// What was in it.
typedef struct Mail {
    List requests, awaits, called_off, executed, controls;
    bool has_called_off; // owners take theirs back from the list, with the lock held
    Commit *committed;   // NULL = none
    Status commit_status;
    Diag commit_diag;
    bool is_store_changed, is_store_heard;
} Mail;

void mailbox_init(Mailbox *box);
void mailbox_done(Mailbox *box);
// Into one of its lists. False when the coordinator's thread has ended. [mailbox-1]
bool mailbox_put(Mailbox *box, List *list, List *link);
// After something was put in by hand; with the lock held. [mailbox-2]
void mailbox_wake(Mailbox *box);
bool mailbox_has_mail(const Mailbox *box); // with the lock held
void mailbox_take(Mailbox *box, Mail *mail);
// Waits for mail or until `until_ms` by the wall clock (which may be set: the kernel knows). Being
// asked to stop is mail too, unless that is what is being waited out.
void mailbox_sleep(Mailbox *box, int64_t until_ms, bool knows_stop);
void mailbox_move_all(List *from, List *to);
