// Turns: the versions that workers ask for, and who waits for turns of them.
//
// Invariants [turns-1]-[turns-8] are in turns.h.
//
// Not here: turns themselves (turns.c).
#include "api/driver/turns_internal.h"
#include "base/memory.h"

enum { MOMENT_MS = 2000 }; // between two requests of a worker, at most, as a rule

ServedCode *turns_find_served(const TurnBoard *board, int64_t definition) {
    for (size_t i = 0; i < board->served.count; i++)
        if (board->served.data[i]->definition == definition) return board->served.data[i];
    return NULL;
}

bool turns_ask(TurnBoard *board, int64_t definition, int64_t until_ms) {
    pthread_mutex_lock(&board->lock);
    ServedCode *served = turns_find_served(board, definition);
    bool is_new = served == NULL;
    if (is_new) {
        served = mem_zalloc(sizeof(ServedCode));
        served->definition = definition;
        list_init(&served->waiting);
        vec_push(&board->served, served);
    }
    if (until_ms > served->until_ms) served->until_ms = until_ms;
    served->asked_ms = env_now_ms(env_system());
    pthread_mutex_unlock(&board->lock);
    return is_new;
}

void turns_wait(TurnBoard *board, const int64_t *definitions, size_t count) {
    pthread_mutex_lock(&board->lock);
    for (size_t i = 0; i < count; i++) {
        ServedCode *served = turns_find_served(board, definitions[i]);
        if (served != NULL) served->waiter_count++;
    }
    pthread_mutex_unlock(&board->lock);
}

void turns_wait_no_more(TurnBoard *board, const int64_t *definitions, size_t count, bool has_left) {
    int64_t now_ms = env_now_ms(env_system());
    pthread_mutex_lock(&board->lock);
    for (size_t i = 0; i < count; i++) {
        ServedCode *served = turns_find_served(board, definitions[i]);
        if (served == NULL || served->waiter_count == 0) continue;
        served->waiter_count--;
        served->asked_ms = has_left ? 0 : now_ms;
    }
    pthread_mutex_unlock(&board->lock);
}

size_t turns_waiting(TurnBoard *board) {
    pthread_mutex_lock(&board->lock);
    size_t count = board->waiting_count;
    pthread_mutex_unlock(&board->lock);
    return count;
}

bool turns_are_wanted(TurnBoard *board) {
    bool answer = false;
    int64_t since_ms = env_now_ms(env_system()) - MOMENT_MS;
    pthread_mutex_lock(&board->lock);
    for (size_t i = 0; i < board->served.count && !answer; i++) {
        const ServedCode *served = board->served.data[i];
        if (list_is_empty(&served->waiting)) continue;
        answer = served->waiter_count > 0 || served->asked_ms > since_ms;
    }
    pthread_mutex_unlock(&board->lock);
    return answer;
}

size_t turns_unasked(TurnBoard *board, int64_t now_ms, size_t max, int64_t *ret_definitions) {
    size_t count = 0;
    pthread_mutex_lock(&board->lock);
    for (size_t i = 0; i < board->served.count && count < max;) {
        ServedCode *served = board->served.data[i];
        if (served->until_ms > now_ms) {
            i++;
            continue;
        }
        turns_give_back_waiting(board, served);
        ret_definitions[count++] = served->definition;
        board->served.data[i] = vec_last(&board->served);
        board->served.count--;
        mem_free(served);
    }
    pthread_mutex_unlock(&board->lock);
    return count;
}
