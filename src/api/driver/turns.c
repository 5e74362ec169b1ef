// Turns: the board between the coordinator and the processes that execute code.
//
// Invariants [turns-1]-[turns-8] are in turns.h.
//
// Not here: which versions are asked for (turns_served.c), what a turn means
// (engine/runners/code.c), the routes (server/routes/turns.c).
#include "api/driver/turns_internal.h"
#include "base/assert.h"
#include "base/memory.h"
#include "json/write.h"

typedef struct KeptRun {
    Str worker; // owned
    int64_t seq;
    int64_t incarnation;
} KeptRun;

enum {
    LEFT_MS = 100, // a turn is left to the worker that has its run in memory
    LOSSES_MAX = 5 // holders that may be lost before the run is held for a person
};

static Status say_fenced(Diag *diag) {
    return diag_set(diag, ERR_FENCED, "TURN_FENCED",
                    "the turn is not this worker's any more: its lease was over, or it was "
                    "committed");
}

static Str own(Str text) { return (Str){mem_copy(text.data, text.len), text.len}; }
static void disown(Str *text) {
    mem_free((void *)(uintptr_t)text->data);
    *text = STR_NULL;
}

// ---- life ----

void turns_init(TurnBoard *board, Mailbox *mailbox) {
    enum { TOKENS_PER_MS = 1000 }; // more than are given out: a later process begins above
    *board =
        (TurnBoard){.mailbox = mailbox, .last_token = env_now_ms(env_system()) * TOKENS_PER_MS};
    pthread_mutex_init(&board->lock, NULL);
    map_init(&board->by_token);
    map_init(&board->going_on);
    map_init(&board->kept);
    list_init(&board->held);
    heap_init(&board->leases);
    list_init(&board->news);
    strmap_init(&board->listening);
}

static void kept_free(KeptRun *kept) {
    disown(&kept->worker);
    mem_free(kept);
}

static void forget_kept(TurnBoard *board, int64_t run) {
    KeptRun *kept = map_remove(&board->kept, (uint64_t)run);
    if (kept != NULL) kept_free(kept);
}

// With the execution still there: the board knows it by what is in it. [turns-7]
static void listen_no_more(TurnBoard *board, HeldTurn *turn) {
    if (turn->is_listening) (void)strmap_remove(&board->listening, turn->execution->view.id);
    turn->is_listening = turn->has_news = false;
    list_remove(&turn->news);
}

static void listen_again(TurnBoard *board, HeldTurn *turn, bool has_waits) {
    turn->is_listening = has_waits;
    if (has_waits) strmap_put(&board->listening, turn->execution->view.id, turn);
}

static void turn_free(HeldTurn *turn) {
    disown(&turn->worker);
    mem_free(turn);
}

void turns_done(TurnBoard *board) {
    ASSERT(list_is_empty(&board->held)); // [turns-5]
    uint64_t key;
    void *value;
    for (size_t at = 0; map_next(&board->by_token, &at, &key, &value);) turn_free(value);
    for (size_t at = 0; map_next(&board->kept, &at, &key, &value);) kept_free(value);
    for (size_t i = 0; i < board->served.count; i++) mem_free(board->served.data[i]);
    vec_free(&board->served);
    map_done(&board->by_token);
    map_done(&board->going_on);
    map_done(&board->kept);
    heap_done(&board->leases);
    strmap_done(&board->listening);
    pthread_mutex_destroy(&board->lock);
}

void turns_listen(TurnBoard *board, void (*ready)(void *context), void *context) {
    pthread_mutex_lock(&board->lock);
    board->ready = ready;
    board->ready_context = context;
    pthread_mutex_unlock(&board->lock);
}

// Back to the coordinator, as if it had never been handed out.
static void send_back(TurnBoard *board, Execution *execution) {
    execution->is_undone = true;
    pthread_mutex_lock(&board->mailbox->lock);
    list_append(&board->mailbox->executed, &execution->link);
    mailbox_wake(board->mailbox);
    pthread_mutex_unlock(&board->mailbox->lock);
}

static void give_back(TurnBoard *board, HeldTurn *turn) {
    list_remove(&turn->link);
    heap_remove(&board->leases, &turn->lease);
    listen_no_more(board, turn);
    send_back(board, turn->execution);
    turn_free(turn);
}

void turns_give_back_waiting(TurnBoard *board, ServedCode *served) {
    LIST_EACH_SAFE (node, after, &served->waiting) {
        board->waiting_count--;
        give_back(board, container_of(node, HeldTurn, link));
    }
}

// ---- waiting ----

static void put_up(TurnBoard *board, HeldTurn *turn) {
    ServedCode *served = turns_find_served(board, turn->definition);
    if (served == NULL || board->is_closed) { // [turns-4], [turns-5]
        list_init(&turn->link);
        give_back(board, turn);
        return;
    }
    const KeptRun *kept = map_get(&board->kept, (uint64_t)turn->run);
    turn->left_until_ms = kept != NULL ? env_now_ms(env_system()) + LEFT_MS : 0;
    list_append(&served->waiting, &turn->link);
    board->waiting_count++;
    if (board->ready != NULL) board->ready(board->ready_context);
}

// Whoever sent the commit, and sent it again. [turns-8]
static void tell(TurnReturn *told) {
    for (TurnReturn *again; told != NULL; told = again) {
        again = told->again;
        if (again != NULL) {
            again->verdict = told->verdict;
            again->is_held = told->is_held;
            again->is_cancel_wanted = told->is_cancel_wanted;
        }
        told->done(told);
    }
}

static void give_up_waiting(TurnBoard *board, HeldTurn *turn);

// The next execution of a turn that goes on. [turns-3]
static bool hold_again(TurnBoard *board, Execution *execution) {
    HeldTurn *turn = map_get(&board->going_on, (uint64_t)execution->run);
    if (turn == NULL) return false;
    if (turn->incarnation != execution->view.incarnation) { // rewound meanwhile
        give_up_waiting(board, turn);
        return false;
    }
    (void)map_remove(&board->going_on, (uint64_t)execution->run);
    TurnReturn *told = turn->told;
    turn->told = NULL;
    turn->execution = execution;
    if (execution->view.last_seq > turn->after_seq) turn->loss_count = 0;
    turn->after_seq = execution->view.last_seq;
    turn->last = told->verdict;
    listen_again(board, turn, told->has_waits);
    list_append(&board->held, &turn->link);
    told->is_held = true;
    told->is_cancel_wanted = execution->view.is_cancel_wanted;
    tell(told);
    return true;
}

void turns_add(TurnBoard *board, Execution *execution) {
    pthread_mutex_lock(&board->lock);
    if (!hold_again(board, execution)) {
        HeldTurn *turn = mem_zalloc(sizeof(HeldTurn));
        turn->run = execution->run;
        turn->definition = execution->view.definition;
        turn->incarnation = execution->view.incarnation;
        turn->execution = execution;
        list_init(&turn->news);
        put_up(board, turn);
    }
    pthread_mutex_unlock(&board->lock);
}

// Its holder is lost: somebody else takes it, unless it has lost too many.
static void put_up_again(TurnBoard *board, HeldTurn *turn) {
    list_remove(&turn->link);
    heap_remove(&board->leases, &turn->lease);
    listen_no_more(board, turn);
    (void)map_remove(&board->by_token, (uint64_t)turn->token);
    disown(&turn->worker);
    forget_kept(board, turn->run);
    turn->after_seq = 0;
    if (++turn->loss_count < LOSSES_MAX || board->is_closed) {
        put_up(board, turn);
        return;
    }
    Execution *execution = turn->execution;
    execution->output.next = NEXT_PAUSE;
    execution->output.result = json_error(
        &execution->arena, STR("CrashError"), STR("RUN_CRASHES"),
        arena_printf(&execution->arena,
                     "%d workers in a row were lost while they executed this run; repair what its "
                     "next step does, then resume it",
                     LOSSES_MAX));
    turn_free(turn);
    pthread_mutex_lock(&board->mailbox->lock);
    list_append(&board->mailbox->executed, &execution->link);
    mailbox_wake(board->mailbox);
    pthread_mutex_unlock(&board->mailbox->lock);
}

// The next execution of a turn that goes on has not come: the run was taken from this node.
static void give_up_waiting(TurnBoard *board, HeldTurn *turn) {
    TurnReturn *told = turn->told;
    (void)map_remove(&board->going_on, (uint64_t)turn->run);
    (void)map_remove(&board->by_token, (uint64_t)turn->token);
    heap_remove(&board->leases, &turn->lease);
    turn_free(turn);
    tell(told);
}

// The first whose lease is over by then; NULL = none.
static HeldTurn *find_overdue(const TurnBoard *board, int64_t now_ms) {
    HeapNode *first = heap_peek(&board->leases);
    return first != NULL && first->at <= now_ms ? container_of(first, HeldTurn, lease) : NULL;
}

static void end_lease(TurnBoard *board, HeldTurn *turn) {
    if (turn->execution != NULL) put_up_again(board, turn);
    else give_up_waiting(board, turn);
}

void turns_close(TurnBoard *board) {
    uint64_t run;
    void *going_on;
    pthread_mutex_lock(&board->lock);
    board->is_closed = true;
    for (size_t at = 0; map_next(&board->going_on, &at, &run, &going_on); at = 0)
        give_up_waiting(board, going_on);
    LIST_EACH_SAFE (node, after, &board->held) {
        HeldTurn *turn = container_of(node, HeldTurn, link);
        (void)map_remove(&board->by_token, (uint64_t)turn->token);
        give_back(board, turn);
    }
    for (size_t i = 0; i < board->served.count; i++)
        turns_give_back_waiting(board, board->served.data[i]);
    pthread_mutex_unlock(&board->lock);
}

// ---- holding ----

// Whether the worker may take it now.
static bool is_for(const TurnBoard *board, const HeldTurn *turn, Str worker, int64_t now_ms) {
    if (turn->left_until_ms <= now_ms) return true;
    const KeptRun *kept = map_get(&board->kept, (uint64_t)turn->run);
    return kept == NULL || str_equal(kept->worker, worker);
}

static void set_lease(TurnBoard *board, HeldTurn *turn, int64_t until_ms) {
    heap_remove(&board->leases, &turn->lease);
    turn->lease.at = until_ms;
    heap_push(&board->leases, &turn->lease);
}

static void hold(TurnBoard *board, HeldTurn *turn, const TurnAsk *ask, int64_t now_ms) {
    const KeptRun *kept = map_get(&board->kept, (uint64_t)turn->run);
    bool has_it = kept != NULL && str_equal(kept->worker, ask->worker) &&
                  kept->incarnation == turn->incarnation;
    turn->after_seq = has_it ? kept->seq : 0;
    if (!has_it) forget_kept(board, turn->run);
    turn->token = ++board->last_token; // [turns-1]
    turn->number = 0;
    turn->worker = own(ask->worker);
    set_lease(board, turn, now_ms + ask->lease_ms);
    list_remove(&turn->link);
    board->waiting_count--;
    list_append(&board->held, &turn->link);
    map_put(&board->by_token, (uint64_t)turn->token, turn);
    ask->take(ask->context, turn);
}

size_t turns_take(TurnBoard *board, const TurnAsk *ask, int64_t *ret_again_ms) {
    size_t count = 0;
    int64_t now_ms = env_now_ms(env_system());
    *ret_again_ms = NEVER_MS;
    pthread_mutex_lock(&board->lock);
    for (size_t i = 0; i < ask->definition_count; i++) {
        ServedCode *served = turns_find_served(board, ask->definitions[i]);
        if (served == NULL) continue;
        LIST_EACH_SAFE (node, after, &served->waiting) {
            HeldTurn *turn = container_of(node, HeldTurn, link);
            if (count == ask->max) break;
            if (is_for(board, turn, ask->worker, now_ms)) {
                hold(board, turn, ask, now_ms);
                count++;
            } else {
                *ret_again_ms = earlier_ms(*ret_again_ms, turn->left_until_ms);
            }
        }
    }
    pthread_mutex_unlock(&board->lock);
    return count;
}

// With the board locked; NULL = nobody holds it under that token.
static HeldTurn *held_find(const TurnBoard *board, int64_t token) {
    HeldTurn *turn = token > 0 ? map_get(&board->by_token, (uint64_t)token) : NULL;
    return turn != NULL && turn->execution != NULL ? turn : NULL;
}

Status turns_look(TurnBoard *board, int64_t token, int64_t after_seq, const TurnAsk *look) {
    pthread_mutex_lock(&board->lock);
    HeldTurn *turn = held_find(board, token);
    if (turn != NULL) {
        turn->after_seq = after_seq;
        look->take(look->context, turn);
    }
    pthread_mutex_unlock(&board->lock);
    return turn != NULL ? OK : ERR_FENCED;
}

Status turns_renew(TurnBoard *board, TurnRenewal *renewal) {
    pthread_mutex_lock(&board->lock);
    HeldTurn *turn = held_find(board, renewal->token);
    if (turn != NULL) {
        set_lease(board, turn, env_now_ms(env_system()) + renewal->lease_ms);
        renewal->run = turn->run;
        renewal->has_news = turn->has_news;
    }
    pthread_mutex_unlock(&board->lock);
    return turn != NULL ? OK : ERR_FENCED;
}

void turns_hear(TurnBoard *board, Str run_id) {
    pthread_mutex_lock(&board->lock);
    HeldTurn *turn = strmap_get(&board->listening, run_id);
    if (turn != NULL && !turn->has_news) {
        turn->has_news = true;
        list_append(&board->news, &turn->news);
        if (board->ready != NULL) board->ready(board->ready_context);
    }
    pthread_mutex_unlock(&board->lock);
}

size_t turns_take_news(TurnBoard *board, Str worker, size_t max, int64_t *ret_tokens) {
    size_t count = 0;
    pthread_mutex_lock(&board->lock);
    LIST_EACH_SAFE (node, after, &board->news) {
        HeldTurn *turn = container_of(node, HeldTurn, news);
        if (count == max || !str_equal(turn->worker, worker)) continue;
        list_remove(node);
        ret_tokens[count++] = turn->token;
    }
    pthread_mutex_unlock(&board->lock);
    return count;
}

Status turns_give_up(TurnBoard *board, int64_t token) {
    pthread_mutex_lock(&board->lock);
    HeldTurn *turn = held_find(board, token);
    if (turn != NULL) {
        turn->loss_count--; // it is not lost
        put_up_again(board, turn);
    }
    pthread_mutex_unlock(&board->lock);
    return turn != NULL ? OK : ERR_FENCED;
}

void turns_drop_worker(TurnBoard *board, Str worker) {
    pthread_mutex_lock(&board->lock);
    LIST_EACH_SAFE (node, after, &board->held) {
        HeldTurn *turn = container_of(node, HeldTurn, link);
        if (str_equal(turn->worker, worker)) put_up_again(board, turn);
    }
    pthread_mutex_unlock(&board->lock);
}

void turns_expire(TurnBoard *board, int64_t now_ms) {
    HeldTurn *overdue;
    pthread_mutex_lock(&board->lock);
    while ((overdue = find_overdue(board, now_ms)) != NULL) end_lease(board, overdue);
    pthread_mutex_unlock(&board->lock);
}

int64_t turns_next_ms(TurnBoard *board) {
    pthread_mutex_lock(&board->lock);
    const HeapNode *first = heap_peek(&board->leases);
    int64_t next_ms = first != NULL ? first->at : NEVER_MS;
    for (size_t i = 0; i < board->served.count; i++)
        next_ms = earlier_ms(next_ms, board->served.data[i]->until_ms);
    pthread_mutex_unlock(&board->lock);
    return next_ms;
}

// ---- committing ----

static void note_kept(TurnBoard *board, const HeldTurn *turn, int64_t seq) {
    KeptRun *kept = map_get(&board->kept, (uint64_t)turn->run);
    if (kept == NULL) {
        kept = mem_zalloc(sizeof(KeptRun));
        kept->worker = own(turn->worker);
        map_put(&board->kept, (uint64_t)turn->run, kept);
    }
    kept->seq = seq;
    kept->incarnation = turn->incarnation;
}

// On the coordinator's thread, when the store has answered.
static void committed(void *context, const TurnVerdict *verdict) {
    TurnReturn *told = context;
    TurnBoard *board = told->board;
    HeldTurn *turn;
    pthread_mutex_lock(&board->lock);
    turn = map_get(&board->by_token, (uint64_t)told->token);
    told->verdict = *verdict;
    bool is_running = verdict->status == OK && verdict->state == RUN_RUNNING;
    bool is_parked = verdict->status == OK && verdict->state == RUN_SUSPENDED;
    // What a run that was to park was given at once is behind what its holder knows: its next turn
    // tells that.
    if (is_running && !turn->goes_on) told->verdict.last_seq = verdict->turn_seq;
    if (turn->is_keeping && (is_running || is_parked))
        note_kept(board, turn, told->verdict.last_seq);
    else forget_kept(board, turn->run);
    if (turn->goes_on && is_running && !board->is_closed) { // [turns-3]
        map_put(&board->going_on, (uint64_t)turn->run, turn);
        heap_push(&board->leases, &turn->lease);
        told = NULL;
    } else {
        (void)map_remove(&board->by_token, (uint64_t)turn->token);
        turn_free(turn);
    }
    pthread_mutex_unlock(&board->lock);
    tell(told);
}

typedef enum CommitAnswer { COMMIT_FENCED, COMMIT_BEGUN, COMMIT_AGAIN, COMMIT_STALE } CommitAnswer;

// [turns-8] Of a turn that is there: the commit came before, or is under way.
static CommitAnswer answer_again(HeldTurn *turn, TurnReturn *told) {
    if (told->number < turn->number) return COMMIT_STALE;
    if (turn->execution == NULL) {
        told->again = turn->told->again;
        turn->told->again = told;
        return COMMIT_BEGUN; // it is told with the other one
    }
    told->verdict = turn->last;
    told->is_held = true;
    told->is_cancel_wanted = turn->execution->view.is_cancel_wanted;
    return COMMIT_AGAIN;
}

static CommitAnswer begin_commit(TurnBoard *board, TurnReturn *told, HeldTurn **ret_turn,
                                 Execution **ret_execution) {
    CommitAnswer answer = COMMIT_FENCED;
    pthread_mutex_lock(&board->lock);
    HeldTurn *turn = told->token > 0 ? map_get(&board->by_token, (uint64_t)told->token) : NULL;
    if (turn != NULL && told->number > 0 && told->number <= turn->number) {
        answer = answer_again(turn, told);
    } else if (turn != NULL && turn->execution != NULL) {
        answer = COMMIT_BEGUN;
        list_remove(&turn->link);
        heap_remove(&board->leases, &turn->lease); // a commit takes as long as it takes
        listen_no_more(board, turn);
        *ret_turn = turn;
        *ret_execution = turn->execution;
        turn->execution = NULL; // [turns-2] nobody else looks at it from here on
        turn->told = told;
        turn->is_keeping = told->is_keeping;
    }
    pthread_mutex_unlock(&board->lock);
    return answer;
}

// The output could not be read: the holder may say it otherwise.
static void keep_holding(TurnBoard *board, HeldTurn *turn, Execution *execution) {
    turn_output_clear(&execution->output);
    pthread_mutex_lock(&board->lock);
    turn->execution = execution;
    turn->told = NULL;
    heap_push(&board->leases, &turn->lease);
    list_append(&board->held, &turn->link);
    bool is_closed = board->is_closed;
    if (is_closed) {
        (void)map_remove(&board->by_token, (uint64_t)turn->token);
        give_back(board, turn);
    }
    pthread_mutex_unlock(&board->lock);
}

// It is committed unless it cannot be read.
static Status commit_output(TurnBoard *board, HeldTurn *turn, Execution *execution, Diag *diag) {
    TurnReturn *told = turn->told;
    turn_output_clear(&execution->output);
    Status status = told->read(told, &execution->view, &execution->arena, &execution->output, diag);
    if (status != OK) {
        keep_holding(board, turn, execution);
        return status;
    }
    pthread_mutex_lock(&board->lock);
    if (told->number > 0) turn->number = told->number;
    turn->goes_on = execution->output.next == NEXT_CONTINUE;
    pthread_mutex_unlock(&board->lock);
    told->has_waits = execution->output.waits.count > 0;
    told->board = board;
    execution->tell = committed;
    execution->tell_context = told;
    pthread_mutex_lock(&board->mailbox->lock);
    list_append(&board->mailbox->executed, &execution->link);
    mailbox_wake(board->mailbox);
    pthread_mutex_unlock(&board->mailbox->lock);
    return OK;
}

Status turns_commit(TurnBoard *board, TurnReturn *told, Diag *diag) {
    HeldTurn *turn = NULL;
    Execution *execution = NULL;
    switch (begin_commit(board, told, &turn, &execution)) {
    case COMMIT_BEGUN: return turn != NULL ? commit_output(board, turn, execution, diag) : OK;
    case COMMIT_AGAIN: told->done(told); return OK;
    case COMMIT_STALE:
        return diag_set(diag, ERR_INVALID, "STALE_COMMIT", "commit %lld of this turn came already",
                        (long long)told->number);
    default: return say_fenced(diag);
    }
}
