// Mailbox: lists under one lock, and the sleep of the thread that reads them.
//
// Messages are links of what the senders own, so nothing is allocated and putting one in takes a
// moment. The reader takes all there is at once: what comes meanwhile is the next batch.
//
// Invariants [mailbox-1], [mailbox-2] are in mailbox.h.
//
// Not here: what is done with the mail (driver.c).
#include "api/driver/mailbox.h"
#include "base/assert.h"
#include <errno.h>

void mailbox_init(Mailbox *box) {
    *box = (Mailbox){.state = DRIVER_RUNS};
    pthread_mutex_init(&box->lock, NULL);
    pthread_cond_init(&box->wake, NULL);
    list_init(&box->requests);
    list_init(&box->awaits);
    list_init(&box->called_off);
    list_init(&box->executed);
    list_init(&box->controls);
    list_init(&box->settles);
}

void mailbox_done(Mailbox *box) {
    pthread_mutex_destroy(&box->lock);
    pthread_cond_destroy(&box->wake);
}

void mailbox_wake(Mailbox *box) {
    if (!box->is_asleep) return;
    box->is_asleep = false;
    pthread_cond_signal(&box->wake);
}

bool mailbox_put(Mailbox *box, List *list, List *link) {
    pthread_mutex_lock(&box->lock);
    ASSERT(box->state <= DRIVER_ENDED);
    bool is_alive = box->state != DRIVER_ENDED; // [mailbox-1]
    if (is_alive) list_append(list, link);
    mailbox_wake(box);
    pthread_mutex_unlock(&box->lock);
    return is_alive;
}

void mailbox_move_all(List *from, List *to) {
    LIST_EACH_SAFE (node, after, from) {
        list_remove(node);
        list_append(to, node);
    }
}

bool mailbox_has_mail(const Mailbox *box) {
    return !list_is_empty(&box->requests) || !list_is_empty(&box->executed) ||
           !list_is_empty(&box->awaits) || !list_is_empty(&box->called_off) ||
           !list_is_empty(&box->controls) || box->committed != NULL || box->is_store_changed ||
           box->is_store_heard;
}

void mailbox_take(Mailbox *box, Mail *mail) {
    list_init(&mail->requests);
    list_init(&mail->awaits);
    list_init(&mail->called_off);
    list_init(&mail->executed);
    list_init(&mail->controls);
    pthread_mutex_lock(&box->lock);
    mailbox_move_all(&box->requests, &mail->requests);
    mailbox_move_all(&box->awaits, &mail->awaits);
    mail->has_called_off = !list_is_empty(&box->called_off);
    mailbox_move_all(&box->called_off, &mail->called_off);
    mailbox_move_all(&box->executed, &mail->executed);
    mailbox_move_all(&box->controls, &mail->controls);
    mail->committed = box->committed;
    mail->commit_status = box->commit_status;
    if (mail->committed != NULL) mail->commit_diag = box->commit_diag;
    box->committed = NULL;
    mail->is_store_changed = box->is_store_changed;
    box->is_store_changed = false;
    mail->is_store_heard = box->is_store_heard;
    box->is_store_heard = false;
    box->is_settle_new = false;
    pthread_mutex_unlock(&box->lock);
}

void mailbox_sleep(Mailbox *box, int64_t until_ms, bool knows_stop) {
    pthread_mutex_lock(&box->lock);
    bool is_stop_new = !knows_stop && box->state == DRIVER_STOPS;
    if (!mailbox_has_mail(box) && !box->is_settle_new && !is_stop_new) {
        ASSERT(!box->is_asleep); // there is one reader
        box->is_asleep = true;
        struct timespec at = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
        int code = 0;
        while (box->is_asleep && code != ETIMEDOUT)
            code = until_ms == INT64_MAX ? pthread_cond_wait(&box->wake, &box->lock)
                                         : pthread_cond_timedwait(&box->wake, &box->lock, &at);
        box->is_asleep = false;
    }
    pthread_mutex_unlock(&box->lock);
}
