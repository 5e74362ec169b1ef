// List: an intrusive doubly linked ring. An empty list points at itself.
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct List {
    struct List *next;
    struct List *prev;
} List;

#define container_of(node, Type, member) ((Type *)(void *)((char *)(node)-offsetof(Type, member)))

static inline void list_init(List *list) { list->next = list->prev = list; }
static inline bool list_is_empty(const List *list) { return list->next == list; }
static inline void list_append(List *list, List *node) {
    node->prev = list->prev;
    node->next = list;
    list->prev->next = node;
    list->prev = node;
}
// Leaves `node` as an empty list, so removing twice is harmless.
static inline void list_remove(List *node) {
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}
static inline List *list_first(const List *list) { return list_is_empty(list) ? NULL : list->next; }
#define LIST_EACH(node, list) for (List *node = (list)->next; node != (list); node = node->next)
// Safe when the body removes `node`.
#define LIST_EACH_SAFE(node, after, list)                                                          \
    for (List *node = (list)->next, *after = node->next; node != (list);                           \
         node = after, after = node->next)
