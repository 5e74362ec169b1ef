// The arena of a test, made anew for each case, and a parser that takes nothing but JSON.
#pragma once
#include "json/value.h"
#include "unit/unit.h"

static Arena arena;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

static JsonValue *parse(const char *text) {
    JsonValue *value = NULL;
    Diag diag = {0};
    if (json_parse(&arena, str_from(text), &value, &diag) != OK) fail_msg("%s", diag.message);
    return value;
}
