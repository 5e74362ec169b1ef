// Offload: see offload.h.
//
// The thread that made an answer leaves it in the exchange; the server thread that the connection
// belongs to sends it, as it sends every other. So what concerns the socket stays on one thread.
//
// Not here: which requests those are (exchange_offload in routes/).
#include "server/exchange/offload.h"
#include "base/thread.h"
#include "server/exchange/exchange.h"

static void send_answer(Exchange *exchange) { exchange->stage = EXCHANGE_ANSWERED; }

static void refuse(Exchange *exchange) {
    exchange_refuse_with(exchange, ERR_CLOSED, "CLOSED", "the server is stopping; try again");
}

static void work_on(Exchange *exchange, bool is_stopping) { // [offload-1]
    ExchangeFunction work = exchange->offloaded;
    exchange->offloaded = NULL;
    if (is_stopping) refuse(exchange);
    else work(exchange);
    ASSERT(exchange->stage == EXCHANGE_ANSWERED);
    exchange_drop_tree(exchange);
    exchange->stage = EXCHANGE_WAITING;
    exchange->next = send_answer;
    exchange_wake(exchange);
}

static void *offload_main(void *context) {
    Offload *offload = context;
    pthread_mutex_lock(&offload->lock);
    for (;;) {
        List *first = list_first(&offload->waiting);
        bool is_stopping = offload->is_stopping;
        if (first == NULL && is_stopping) break;
        if (first == NULL) {
            pthread_cond_wait(&offload->changed, &offload->lock);
            continue;
        }
        list_remove(first);
        pthread_mutex_unlock(&offload->lock);
        work_on(container_of(first, Exchange, offload_link), is_stopping);
        pthread_mutex_lock(&offload->lock);
    }
    pthread_mutex_unlock(&offload->lock);
    return NULL;
}

void offload_init(Offload *offload) {
    *offload = (Offload){0};
    pthread_mutex_init(&offload->lock, NULL);
    pthread_cond_init(&offload->changed, NULL);
    list_init(&offload->waiting);
}

Status offload_start(Offload *offload, Diag *diag) {
    for (; offload->thread_count < OFFLOAD_THREADS; offload->thread_count++)
        TRY(thread_start(&offload->threads[offload->thread_count], offload_main, offload, diag));
    return OK;
}

void offload_stop(Offload *offload) {
    pthread_mutex_lock(&offload->lock);
    offload->is_stopping = true;
    pthread_cond_broadcast(&offload->changed);
    pthread_mutex_unlock(&offload->lock);
    for (; offload->thread_count > 0; offload->thread_count--)
        pthread_join(offload->threads[offload->thread_count - 1], NULL);
}

void offload_done(Offload *offload) {
    ASSERT(list_is_empty(&offload->waiting)); // [offload-2]
    pthread_cond_destroy(&offload->changed);
    pthread_mutex_destroy(&offload->lock);
}

void offload_submit(Offload *offload, Exchange *exchange) {
    pthread_mutex_lock(&offload->lock);
    list_append(&offload->waiting, &exchange->offload_link);
    pthread_cond_signal(&offload->changed);
    pthread_mutex_unlock(&offload->lock);
}
