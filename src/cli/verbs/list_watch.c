// Watching a list: shown again whenever something in it has changed.
//
// The server is asked once a second, whatever happens there. On a terminal the table is drawn anew
// in the same place; elsewhere only what is new or has changed is printed, a line each, so that the
// output can be read by a program or kept in a file.
//
//   [list-watch-1] What is compared is what the server answers, not what is drawn: ages grow by
//        themselves. On a terminal they are brought up now and then.
//   [list-watch-2] Ctrl-C ends it, with exit code 130.
//
// Not here: pages and forms of output (list.c).
#include "base/containers/map.h"
#include "base/env.h"
#include "base/memory.h"
#include "cli/verbs/list.h"
#include <poll.h>

enum { LOOK_MS = 1000, REFRESH_MS = 10000, PAUSE_MS = 50 };

typedef struct ListWatch {
    Session *session;
    const Listing *listing;
    StrMap seen;         // id -> text of the item as it was printed, owned
    int64_t drawn_at_ms; // 0: not yet
} ListWatch;

static void forget(StrMap *seen) {
    size_t at = 0;
    Str id;
    void *value;
    while (strmap_next(seen, &at, &id, &value)) mem_free(value);
    strmap_done(seen);
}

// Whether the item is new or other than before; it is so no more afterwards. Keys of the map point
// into their values: the id stands behind the item's text.
static bool note_item(StrMap *fresh, const StrMap *before, Str id, Str raw) {
    char *text = mem_alloc(raw.len + id.len + 2);
    memcpy(text, raw.data, raw.len);
    text[raw.len] = 0;
    memcpy(text + raw.len + 1, id.data, id.len);
    text[raw.len + 1 + id.len] = 0;
    mem_free(strmap_put(fresh, (Str){text + raw.len + 1, id.len}, text));
    const char *old = strmap_get(before, id);
    return old == NULL || strcmp(old, text) != 0;
}

// Leaves in `items` what is to be printed off a terminal. True: something changed.
static bool take_changes(ListWatch *watch, const ListItems *items, ListItems *ret_changed) {
    StrMap fresh;
    strmap_init(&fresh);
    for (size_t i = 0; i < items->count; i++) {
        Str id = field_text(items->data[i], watch->listing->id_field);
        if (note_item(&fresh, &watch->seen, id, items->data[i]->raw))
            vec_push(ret_changed, items->data[i]);
    }
    bool is_changed = ret_changed->count > 0 || fresh.count != watch->seen.count;
    forget(&watch->seen);
    watch->seen = fresh;
    return is_changed;
}

static void print_changes(ListWatch *watch, const ListItems *changed) {
    Listing listing = *watch->listing;
    listing.has_no_titles = watch->drawn_at_ms != 0;
    if (watch->session->format == OUTPUT_JSON) {
        for (size_t i = 0; i < changed->count; i++) output_json_line(stdout, changed->data[i]->raw);
    } else if (changed->count > 0 || watch->drawn_at_ms == 0) {
        list_print(watch->session, &listing, changed, STR_NULL);
    }
}

static bool look(ListWatch *watch) {
    Session *session = watch->session;
    ListItems items = {0}, changed = {0};
    Str next = STR_NULL;
    ArenaMark mark = arena_mark(&session->arena);
    bool is_ok = list_gather(session, watch->listing, &items, &next);
    bool is_changed = is_ok && take_changes(watch, &items, &changed);
    int64_t now_ms = env_now_ms(env_system());
    bool is_drawn = session->terminal.is_terminal && session->format == OUTPUT_TABLE;
    bool is_old = now_ms - watch->drawn_at_ms >= REFRESH_MS; // [list-watch-1]
    session->now_ms = now_ms;
    if (is_ok && is_drawn && (is_changed || is_old)) {
        fputs("\033[H\033[2J", stdout);
        list_print(session, watch->listing, &items, next);
        watch->drawn_at_ms = now_ms;
    } else if (is_ok && !is_drawn && (is_changed || watch->drawn_at_ms == 0)) {
        print_changes(watch, &changed);
        watch->drawn_at_ms = now_ms;
    }
    vec_free(&changed);
    vec_free(&items);
    session->answer.json = NULL;
    arena_rewind(&session->arena, mark);
    return session_flush(session) && is_ok;
}

static bool wait_a_second(void) {
    for (int i = 0; i < LOOK_MS / PAUSE_MS && !session_is_stopped(); i++)
        (void)poll(NULL, 0, PAUSE_MS);
    return !session_is_stopped();
}

void list_watch(Session *session, const Listing *listing) {
    ListWatch watch = {.session = session, .listing = listing};
    strmap_init(&watch.seen);
    while (look(&watch) && wait_a_second()) {}
    if (session_is_stopped()) session->exit_code = EXIT_CODE_INTERRUPTED; // [list-watch-2]
    forget(&watch.seen);
}
