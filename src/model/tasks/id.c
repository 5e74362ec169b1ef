// Ids of tasks: made of the place in a run, and read back.
//
//   [tasks-id-1] The 27th character of the run's part tells the two forms apart: a letter that is
//        no hexadecimal digit, or one.
//
// Not here: ids of tasks that belong to no run, or that several runs share.
#include "model/tasks/id.h"
#include "base/containers/hash.h"
#include "base/text/hex.h"
#include "base/text/number.h"

enum { BODY_SIZE = 26, DIGEST_SIZE = 16 };

static const Str TASK_PREFIX = STR("task_"), RUN_PREFIX = STR("run_");

static bool is_body(Str text) {
    if (text.len != BODY_SIZE) return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z')) return false;
    }
    return true;
}

static Str rest_of(Str text, size_t from) { return (Str){text.data + from, text.len - from}; }

// Of a run whose id was made by us, all that differs from other runs; else null.
static Str body_of(Str run_id) {
    if (!str_starts_with(run_id, RUN_PREFIX)) return STR_NULL;
    Str body = rest_of(run_id, RUN_PREFIX.len);
    return is_body(body) ? body : STR_NULL;
}

static Str append_number(char *at, char letter, int64_t number) {
    at[0] = letter;
    return (Str){at, 1 + number_format_i64(number, at + 1)};
}

Str task_id_make(Arena *arena, const TaskPlace *place) {
    enum { SIZE_MAX_OF_ID = 5 + 2 * DIGEST_SIZE + 3 * (1 + NUMBER_TEXT_MAX) };
    char text[SIZE_MAX_OF_ID], *at = text + TASK_PREFIX.len;
    Str body = body_of(place->run_id);
    memcpy(text, TASK_PREFIX.data, TASK_PREFIX.len);
    if (!str_is_null(body)) {
        memcpy(at, body.data, body.len);
        at += body.len;
    } else {
        uint8_t digest[SHA256_SIZE];
        Sha256 sha;
        sha256_init(&sha);
        sha256_update(&sha, place->run_id.data, place->run_id.len);
        sha256_final(&sha, digest);
        hex_write(at, digest, DIGEST_SIZE);
        at += 2 * DIGEST_SIZE;
        at += append_number(at, 'k', place->run_key).len;
    }
    if (place->incarnation != 0) at += append_number(at, 'x', place->incarnation).len;
    at += append_number(at, 'n', place->position).len;
    return arena_str(arena, (Str){text, (size_t)(at - text)});
}

// Takes a letter and the digits behind it from the beginning of *text.
static bool take_number(Str *text, char letter, int64_t *ret_number) {
    if (text->len == 0 || text->data[0] != letter) return false;
    size_t end = 1;
    while (end < text->len && text->data[end] >= '0' && text->data[end] <= '9') end++;
    if (!number_parse_count((Str){text->data + 1, end - 1}, INT64_MAX, ret_number)) return false;
    *text = rest_of(*text, end);
    return true;
}

static bool is_hex(Str text) {
    for (size_t i = 0; i < text.len; i++)
        if (hex_value((unsigned char)text.data[i]) < 0) return false;
    return true;
}

// *ret_body is that of the run's id, or null: then the place has the run's key.
static bool id_parse(Str id, Str *ret_body, TaskPlace *ret_place) {
    TaskPlace place = {.run_id = STR_NULL};
    if (!str_starts_with(id, TASK_PREFIX) || id.len <= TASK_PREFIX.len + BODY_SIZE) return false;
    Str rest = rest_of(id, TASK_PREFIX.len), body = {rest.data, BODY_SIZE};
    bool is_made = rest.data[BODY_SIZE] == 'n' || rest.data[BODY_SIZE] == 'x'; // [tasks-id-1]
    if (is_made && is_body(body)) {
        *ret_body = body;
        rest = rest_of(rest, BODY_SIZE);
    } else {
        enum { DIGITS = 2 * DIGEST_SIZE };
        if (rest.len <= DIGITS || !is_hex((Str){rest.data, DIGITS})) return false;
        *ret_body = STR_NULL;
        rest = rest_of(rest, DIGITS);
        if (!take_number(&rest, 'k', &place.run_key)) return false;
    }
    (void)take_number(&rest, 'x', &place.incarnation);
    if (!take_number(&rest, 'n', &place.position) || rest.len > 0) return false;
    *ret_place = place;
    return true;
}

bool task_id_read(Arena *arena, Str id, TaskPlace *ret_place) {
    Str body;
    if (!id_parse(id, &body, ret_place)) return false;
    if (!str_is_null(body)) ret_place->run_id = arena_printf(arena, "run_%.*s", STR_ARG(body));
    return true;
}

bool task_id_leads_to(Str id, Str run_id, int64_t run_key) {
    Str body;
    TaskPlace place;
    if (!id_parse(id, &body, &place)) return false;
    if (str_is_null(body)) return place.run_key == run_key;
    return str_starts_with(run_id, RUN_PREFIX) && str_equal(rest_of(run_id, RUN_PREFIX.len), body);
}
