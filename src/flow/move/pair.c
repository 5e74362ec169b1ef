// Pairs: which function, and which place in it, is the same in both versions.
//
// Functions are paired from the outside in: the top levels, then what paired functions make.
//
//   name        the same name and kind; several of one name: equal bodies, then order
//   body        the same code under another name: renamed
//   order       anonymous ones of the same kind that are left, when they are equally many
//
// Places of paired functions:
//
//   label       the same label
//   expression  the same awaited expression; several: with the same code after them, then order
//   call        the same callee and first literal, between the same paired neighbours
//
//   [move-pair-1] Where the numbers of candidates differ, nothing is paired: the place is
//        ambiguous, and a label would tell.
//   [move-pair-2] A place with a label is never paired with one that has another label, or has
//        lost it.
#include "flow/move/internal.h"

enum {
    ROUTINE_KIND = ROUTINE_ASYNC | ROUTINE_GENERATOR | ROUTINE_ARROW | ROUTINE_METHOD |
                   ROUTINE_CONSTRUCTOR | ROUTINE_DERIVED | ROUTINE_FIELDS | ROUTINE_MODULE
};

// --- functions

typedef struct Children { // of one function, in the order in which they are made
    uint32_t *items;
    uint32_t count;
} Children;

static Children children_of(FlowMove *move, const MoveSide *side, uint32_t parent) {
    Children found = {ARENA_ARRAY(&move->arena, uint32_t, side->module->routine_count), 0};
    const FlowRoutine *routine = &side->module->routines[parent];
    for (uint32_t pc = 0; pc < routine->code_count; pc++) {
        if (flow_op_base(routine->code[pc].op) != OP_CLOSURE) continue;
        uint32_t child = (uint32_t)routine->code[pc].wide;
        const MoveRoutine *at = &side->routines[child];
        if (at->parent == parent && at->made_at == pc) found.items[found.count++] = child;
    }
    return found;
}

typedef enum Likeness { LIKE_NAME_AND_BODY, LIKE_NAME, LIKE_BODY, LIKE_KIND, LIKE_COUNT } Likeness;

static bool is_alike(const MoveSide *side, uint32_t a, const MoveSide *other, uint32_t b,
                     Likeness like) {
    const FlowRoutine *r = &side->module->routines[a];
    const FlowRoutine *s = &other->module->routines[b];
    if ((r->flags & ROUTINE_KIND) != (s->flags & ROUTINE_KIND)) return false;
    bool is_named = flow_string_length(flow_as_string(r->name)) > 0;
    bool is_same_name = move_name_same(r->name, s->name);
    bool is_same_body = side->routines[a].body == other->routines[b].body;
    switch (like) {
    case LIKE_NAME_AND_BODY: return is_same_name && is_same_body;
    case LIKE_NAME: return is_named && is_same_name;
    case LIKE_BODY: return is_same_body;
    case LIKE_KIND: return !is_named && is_same_name;
    case LIKE_COUNT: break;
    }
    return false;
}

// How many unpaired functions of the list are like `routine`; the n-th of them in `ret_item`.
typedef struct Likes {
    uint32_t count;
    uint32_t item;
} Likes;

static Likes likes(const MoveSide *side, uint32_t routine, const MoveSide *other,
                   const Children *list, const uint32_t like_and_n[2]) {
    Likes found = {0, MOVE_NONE};
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t item = list->items[i];
        if (other->routines[item].other != MOVE_NONE) continue;
        if (!is_alike(side, routine, other, item, (Likeness)like_and_n[0])) continue;
        if (found.count++ == like_and_n[1]) found.item = item;
    }
    return found;
}

static void pair_routines(FlowMove *move, uint32_t old, uint32_t new) {
    move->from.routines[old].other = new;
    move->to.routines[new].other = old;
    FlowValue before = move->from.module->routines[old].name;
    FlowValue after = move->to.module->routines[new].name;
    if (move_name_same(before, after)) return;
    if (flow_string_length(flow_as_string(before)) && flow_string_length(flow_as_string(after)))
        vec_push(&move->renames, (MoveRename){before, after});
}

static void pair_children(FlowMove *move, uint32_t parent) {
    Children old = children_of(move, &move->from, parent);
    Children new = children_of(move, &move->to, move->from.routines[parent].other);
    for (uint32_t like = 0; like < LIKE_COUNT; like++) {
        uint32_t pairs[2] = {like, 0};
        for (uint32_t i = 0; i < old.count; i++) {
            uint32_t a = old.items[i];
            if (move->from.routines[a].other != MOVE_NONE) continue;
            // Pairing takes one from each side, so the first is the right one each time.
            Likes there = likes(&move->from, a, &move->to, &new, pairs);
            Likes here = likes(&move->from, a, &move->from, &old, pairs);
            bool is_certain = there.count == here.count || like == LIKE_NAME_AND_BODY;
            if (there.count && is_certain) pair_routines(move, a, there.item); // [move-pair-1]
        }
    }
}

// --- places

typedef struct Places {
    MovePlace *items;
    uint32_t count;
} Places;

typedef enum PlaceKey { KEY_LABEL, KEY_EXPRESSION_AND_NEXT, KEY_EXPRESSION } PlaceKey;

static bool has_key(const MovePlace *a, const MovePlace *b, PlaceKey key) {
    if (a->op != b->op) return false;
    if (key == KEY_LABEL) return a->label.data && b->label.data && str_equal(a->label, b->label);
    if (a->exact != b->exact) return false;
    return key == KEY_EXPRESSION || a->after == b->after;
}

static uint32_t count_key(const Places *list, const MovePlace *like, PlaceKey key,
                          uint32_t *ret_first) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const MovePlace *place = &list->items[i];
        if (place->other != MOVE_NONE || !has_key(place, like, key)) continue;
        if (count++ == 0) *ret_first = i;
    }
    return count;
}

static void pair_by_key(Places *old, Places *new, PlaceKey key) {
    uint32_t first = 0;
    uint32_t unused;
    for (uint32_t i = 0; i < old->count; i++) {
        MovePlace *place = &old->items[i];
        bool is_for_key = (key == KEY_LABEL) == (place->label.data != NULL); // [move-pair-2]
        if (place->other != MOVE_NONE || !is_for_key) continue;
        uint32_t there = count_key(new, place, key, &first);
        uint32_t here = count_key(old, place, key, &unused);
        bool is_fine = there == here && (key != KEY_LABEL || there == 1);
        if (there && is_fine && !place->is_ambiguous) {
            place->other = first;
            new->items[first].other = i;
        } else if (there && key != KEY_EXPRESSION_AND_NEXT) {
            place->is_ambiguous = true; // [move-pair-1]
        }
    }
}

// Unpaired places with the same call between `from` and `to` (both not included).
static uint32_t count_rough(const Places *list, uint32_t from, uint32_t to, const MovePlace *like,
                            uint32_t *ret_first) {
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++) {
        const MovePlace *place = &list->items[i];
        if (place->other != MOVE_NONE || place->op != like->op || place->rough != like->rough)
            continue;
        if (count++ == 0) *ret_first = i;
    }
    return count;
}

static void pair_between(Places *old, Places *new) {
    for (uint32_t i = 0; i < old->count; i++) {
        MovePlace *place = &old->items[i];
        if (place->other != MOVE_NONE || place->label.data || place->is_ambiguous) continue;
        uint32_t before = i;
        while (before > 0 && old->items[before - 1].other == MOVE_NONE) before--;
        uint32_t after = i + 1;
        while (after < old->count && old->items[after].other == MOVE_NONE) after++;
        uint32_t from = before ? old->items[before - 1].other + 1 : 0;
        uint32_t to = after < old->count ? old->items[after].other : new->count;
        if (from > to) continue; // the neighbours changed their order
        uint32_t first = 0;
        uint32_t unused;
        uint32_t there = count_rough(new, from, to, place, &first);
        uint32_t here = count_rough(old, before, after, place, &unused);
        if (there && there == here) {
            place->other = first;
            new->items[first].other = i;
        } else if (there) {
            place->is_ambiguous = true;
        }
    }
}

static void pair_places(FlowMove *move, uint32_t routine) {
    uint32_t other = move->from.routines[routine].other;
    move_side_places(move, &move->from, routine);
    move_side_places(move, &move->to, other);
    MoveRoutine *a = &move->from.routines[routine];
    MoveRoutine *b = &move->to.routines[other];
    Places old = {a->places, a->place_count};
    Places new = {b->places, b->place_count};
    pair_by_key(&old, &new, KEY_LABEL);
    pair_by_key(&old, &new, KEY_EXPRESSION_AND_NEXT);
    pair_by_key(&old, &new, KEY_EXPRESSION);
    pair_between(&old, &new);
}

void move_pair(FlowMove *move) {
    pair_routines(move, 0, 0);
    uint32_t count = move->from.module->routine_count;
    uint32_t *queue = ARENA_ARRAY(&move->arena, uint32_t, count + 1);
    uint32_t end = 1;
    for (uint32_t at = 0; at < end; at++) {
        pair_children(move, queue[at]);
        for (uint32_t i = 0; i < count; i++) {
            const MoveRoutine *child = &move->from.routines[i];
            if (child->parent == queue[at] && child->other != MOVE_NONE) queue[end++] = i;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (move->from.routines[i].other != MOVE_NONE) pair_places(move, i);
}
