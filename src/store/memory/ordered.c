// Ordered: the skip list behind the memory store's tables and indexes.
//
// Why a skip list: insertion and removal touch only neighbours, walking in both directions is a
// pointer away, and there is no balancing to get wrong. A node of level n is in the lists
// 0 … n-1; a level is drawn with probability 1/4 from a generator with a fixed start ([ordered-2]).
#include "store/memory/ordered.h"
#include "base/assert.h"
#include "base/env.h"
#include "base/memory.h"

struct OrderedNode {
    OrderedNode *prev; // in list 0; the head for the first
    void *value;
    const char *key; // behind `next`
    uint32_t key_len;
    int32_t level;
    OrderedNode *next[];
};

static OrderedNode *node_new(int level, Str key, void *value) {
    size_t links_size = (size_t)level * sizeof(OrderedNode *);
    OrderedNode *node = mem_alloc(sizeof(OrderedNode) + links_size + key.len);
    char *bytes = (char *)node + sizeof(OrderedNode) + links_size;
    if (key.len > 0) memcpy(bytes, key.data, key.len);
    ASSERT(key.len <= UINT32_MAX);
    node->prev = NULL;
    node->value = value;
    node->key = bytes;
    node->key_len = (uint32_t)key.len;
    node->level = level;
    memset(node->next, 0, links_size);
    return node;
}

static int key_compare(const OrderedNode *node, Str key) {
    size_t len = node->key_len < key.len ? node->key_len : key.len;
    int order = len > 0 ? memcmp(node->key, key.data, len) : 0;
    if (order != 0) return order;
    return node->key_len < key.len ? -1 : node->key_len > key.len;
}

void ordered_init(Ordered *map) {
    *map = (Ordered){.level_count = 1, .random_state = 1};
    map->head = node_new(ORDERED_LEVELS, STR(""), NULL);
}

void ordered_done(Ordered *map) {
    for (OrderedNode *node = map->head; node != NULL;) {
        OrderedNode *next = node->next[0];
        mem_free(node);
        node = next;
    }
    *map = (Ordered){0};
}

// The last node whose key is smaller, in each list; the head where there is none.
static OrderedNode *find_before(const Ordered *map, Str key, OrderedNode **ret_path) {
    OrderedNode *node = map->head;
    for (int level = map->level_count - 1; level >= 0; level--) {
        while (node->next[level] != NULL && key_compare(node->next[level], key) < 0) {
            node = node->next[level];
        }
        if (ret_path != NULL) ret_path[level] = node;
    }
    return node;
}

static int draw_level(Ordered *map) {
    uint64_t bits = random_next(&map->random_state);
    int level = 1;
    while (level < ORDERED_LEVELS && (bits & 3) == 0) {
        level++;
        bits >>= 2;
    }
    return level;
}

bool ordered_insert(Ordered *map, Str key, void *value) {
    ASSERT(value != NULL);
    OrderedNode *path[ORDERED_LEVELS];
    OrderedNode *next = find_before(map, key, path)->next[0];
    if (next != NULL && key_compare(next, key) == 0) return false;
    OrderedNode *node = node_new(draw_level(map), key, value);
    for (; map->level_count < node->level; map->level_count++) path[map->level_count] = map->head;
    for (int level = 0; level < node->level; level++) {
        node->next[level] = path[level]->next[level];
        path[level]->next[level] = node;
    }
    node->prev = path[0];
    if (next != NULL) next->prev = node;
    else map->last = node;
    map->count++;
    return true;
}

void *ordered_remove(Ordered *map, Str key) {
    OrderedNode *path[ORDERED_LEVELS];
    OrderedNode *node = find_before(map, key, path)->next[0];
    if (node == NULL || key_compare(node, key) != 0) return NULL;
    for (int level = 0; level < node->level; level++) path[level]->next[level] = node->next[level];
    if (node->next[0] != NULL) node->next[0]->prev = node->prev;
    else map->last = node->prev == map->head ? NULL : node->prev;
    map->count--;
    void *value = node->value;
    mem_free(node);
    return value;
}

void *ordered_get(const Ordered *map, Str key) {
    OrderedNode *node = find_before(map, key, NULL)->next[0];
    return node != NULL && key_compare(node, key) == 0 ? node->value : NULL;
}

OrderedNode *ordered_first_from(const Ordered *map, Str key) {
    return find_before(map, key, NULL)->next[0];
}

OrderedNode *ordered_last_before(const Ordered *map, Str key) {
    OrderedNode *node = find_before(map, key, NULL);
    return node == map->head ? NULL : node;
}

OrderedNode *ordered_last(const Ordered *map) { return map->last; }

OrderedNode *ordered_next(const OrderedNode *node) { return node->next[0]; }

OrderedNode *ordered_prev(const OrderedNode *node) {
    return node->prev->prev == NULL ? NULL : node->prev; // only the head has none before it
}

Str ordered_key(const OrderedNode *node) { return (Str){node->key, node->key_len}; }

void *ordered_value(const OrderedNode *node) { return node->value; }
