// The waiters, grouped by what they wait for.
//
// A group exists as long as somebody is in it. Waking happens with the hub locked, so a waiter that
// has been removed is never woken again; that is what makes it safe to free one.
//
// Not here: what a woken waiter does (stream.c, routes/tasks.c).
#include "server/exchange/hub.h"
#include "base/assert.h"
#include "base/memory.h"

typedef struct HubGroup {
    Str key; // owned
    List waiters;
} HubGroup;

void hub_init(Hub *hub) {
    *hub = (Hub){0};
    pthread_mutex_init(&hub->lock, NULL);
    for (int i = 0; i < HUB_KIND_COUNT; i++) strmap_init(&hub->groups[i]);
}

void hub_done(Hub *hub) {
    for (int i = 0; i < HUB_KIND_COUNT; i++) {
        ASSERT(hub->groups[i].count == 0);
        strmap_done(&hub->groups[i]);
    }
    pthread_mutex_destroy(&hub->lock);
}

void hub_add(Hub *hub, HubWaiter *waiter) {
    pthread_mutex_lock(&hub->lock);
    StrMap *groups = &hub->groups[waiter->kind];
    HubGroup *group = strmap_get(groups, waiter->key);
    if (group == NULL) {
        group = mem_zalloc(sizeof(HubGroup));
        group->key = (Str){mem_copy(waiter->key.data, waiter->key.len), waiter->key.len};
        list_init(&group->waiters);
        strmap_put(groups, group->key, group);
    }
    list_append(&group->waiters, &waiter->link);
    atomic_fetch_add(&hub->counts[waiter->kind], 1);
    pthread_mutex_unlock(&hub->lock);
}

void hub_remove(Hub *hub, HubWaiter *waiter) {
    pthread_mutex_lock(&hub->lock);
    StrMap *groups = &hub->groups[waiter->kind];
    HubGroup *group = strmap_get(groups, waiter->key);
    if (group != NULL && !list_is_empty(&waiter->link)) {
        list_remove(&waiter->link);
        atomic_fetch_sub(&hub->counts[waiter->kind], 1);
        if (list_is_empty(&group->waiters)) {
            strmap_remove(groups, group->key);
            mem_free((void *)(uintptr_t)group->key.data);
            mem_free(group);
        }
    }
    pthread_mutex_unlock(&hub->lock);
}

static bool has_any(Hub *hub, HubKind kind) {
    return atomic_load(&hub->counts[kind]) > 0;
} // [hub-2]

static void wake_group(const HubGroup *group) {
    LIST_EACH (node, &group->waiters) {
        HubWaiter *waiter = container_of(node, HubWaiter, link);
        waiter->wake(waiter);
    }
}

static void wake_first(const HubGroup *group) {
    HubWaiter *waiter = container_of(list_first(&group->waiters), HubWaiter, link);
    waiter->wake(waiter);
}

void hub_log_grew(Hub *hub, Str run_id) {
    if (!has_any(hub, HUB_READERS)) return;
    pthread_mutex_lock(&hub->lock);
    const HubGroup *group = strmap_get(&hub->groups[HUB_READERS], run_id);
    if (group != NULL) wake_group(group);
    pthread_mutex_unlock(&hub->lock);
}

bool hub_has_reader(Hub *hub, Str run_id) {
    if (!has_any(hub, HUB_READERS)) return false;
    pthread_mutex_lock(&hub->lock);
    bool answer = strmap_get(&hub->groups[HUB_READERS], run_id) != NULL;
    pthread_mutex_unlock(&hub->lock);
    return answer;
}

void hub_tasks_ready(Hub *hub) {
    if (!has_any(hub, HUB_CLAIMERS)) return;
    pthread_mutex_lock(&hub->lock);
    Str key;
    void *group;
    for (size_t at = 0; strmap_next(&hub->groups[HUB_CLAIMERS], &at, &key, &group);)
        wake_first(group);
    pthread_mutex_unlock(&hub->lock);
}

void hub_more_tasks(Hub *hub, Str key) {
    if (!has_any(hub, HUB_CLAIMERS)) return;
    pthread_mutex_lock(&hub->lock);
    const HubGroup *group = strmap_get(&hub->groups[HUB_CLAIMERS], key);
    if (group != NULL) wake_first(group);
    pthread_mutex_unlock(&hub->lock);
}

static void wake_kind(const Hub *hub, HubKind kind) {
    Str key;
    void *group;
    for (size_t at = 0; strmap_next(&hub->groups[kind], &at, &key, &group);) wake_group(group);
}

void hub_turns_ready(Hub *hub) {
    if (!has_any(hub, HUB_TURNS)) return;
    pthread_mutex_lock(&hub->lock);
    wake_kind(hub, HUB_TURNS);
    pthread_mutex_unlock(&hub->lock);
}

void hub_wake_all(Hub *hub) {
    pthread_mutex_lock(&hub->lock);
    for (int kind = 0; kind < HUB_KIND_COUNT; kind++) wake_kind(hub, (HubKind)kind);
    pthread_mutex_unlock(&hub->lock);
}

void hub_each(Hub *hub, HubKind kind, void (*visit)(HubWaiter *waiter, const void *context),
              const void *context) {
    pthread_mutex_lock(&hub->lock);
    Str key;
    void *group;
    for (size_t at = 0; strmap_next(&hub->groups[kind], &at, &key, &group);)
        LIST_EACH (node, &((const HubGroup *)group)->waiters)
            visit(container_of(node, HubWaiter, link), context);
    pthread_mutex_unlock(&hub->lock);
}
