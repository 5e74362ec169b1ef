// EventScript: both forms of the file become the same list.
//
// The line form is for people who type; a file that begins with a bracket is JSON. Items are put in
// order of their time, so that a file can be grouped by subject.
//   [script-1] Whatever cannot be meant is refused with its place in the file.
#include "cli/run/script.h"
#include "base/time/duration.h"
#include "json/validate.h"
#include "json/value.h"

enum { ITEMS_MAX = 10000 };

static Status refuse(Diag *diag, size_t number, const char *message) {
    return diag_set(diag, ERR_INVALID, "BAD_SCRIPT", "entry %zu of the script: %s", number,
                    message);
}

// ---- lines: at DURATION signal NAME [JSON] | event TOPIC [JSON] | cancel [REASON] ----

static Str next_word(Str *rest) {
    *rest = str_trim(*rest);
    size_t len = 0;
    while (len < rest->len && (unsigned char)rest->data[len] > ' ') len++;
    Str word = {rest->data, len};
    *rest = str_trim((Str){rest->data + len, rest->len - len});
    return word;
}

static Status read_line(Arena *arena, Str line, size_t number, ScriptItem *ret_item, Diag *diag) {
    Diag cause;
    Str rest = line;
    if (!str_equal(next_word(&rest), STR("at")))
        return refuse(diag, number, "it must begin with: at DURATION");
    if (duration_parse(next_word(&rest), &ret_item->after_ms, &cause) != OK)
        return refuse(diag, number, cause.message);
    Str verb = next_word(&rest);
    if (str_equal(verb, STR("cancel"))) {
        ret_item->kind = SCRIPT_CANCEL;
        if (rest.len > 0) ret_item->name = arena_str(arena, rest);
        return OK;
    }
    bool is_signal = str_equal(verb, STR("signal"));
    if (!is_signal && !str_equal(verb, STR("event")))
        return refuse(diag, number, "signal NAME, event TOPIC or cancel must follow the time");
    ret_item->kind = is_signal ? SCRIPT_SIGNAL : SCRIPT_EVENT;
    ret_item->name = arena_str(arena, next_word(&rest));
    if (ret_item->name.len == 0) return refuse(diag, number, "a name is missing");
    if (rest.len == 0) return OK;
    if (json_validate(rest, &cause) != OK) return refuse(diag, number, cause.message);
    ret_item->payload = arena_str(arena, rest);
    return OK;
}

static Status read_lines(Arena *arena, Str text, EventScript *script, Diag *diag) {
    size_t number = 0;
    while (text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        size_t len = end != NULL ? (size_t)(end - text.data) : text.len;
        Str line = str_trim((Str){text.data, len});
        size_t step = end != NULL ? len + 1 : len;
        text = (Str){text.data + step, text.len - step};
        number++;
        if (line.len == 0 || line.data[0] == '#') continue;
        if (script->count == ITEMS_MAX) return refuse(diag, number, "there are over 10000");
        TRY(read_line(arena, line, number, &script->items[script->count++], diag));
    }
    return OK;
}

// ---- JSON ----

static Status read_object(Arena *arena, const JsonValue *object, size_t number, ScriptItem *item,
                          Diag *diag) {
    static const char *const names[] = {"at", "signal", "event", "cancel", "payload", "run", NULL};
    static const char *const required[] = {"at", NULL};
    Str signal = STR_NULL, topic = STR_NULL, payload = STR_NULL;
    bool is_cancel = false;
    TRY(json_allow_only(object, names, diag));
    TRY(json_require(object, required, diag));
    TRY(json_get_duration_ms(object, "at", &item->after_ms, diag));
    TRY(json_get_string(object, "signal", &signal, diag));
    TRY(json_get_string(object, "event", &topic, diag));
    TRY(json_get_bool(object, "cancel", &is_cancel, diag));
    TRY(json_get_string(object, "run", &item->run_id, diag));
    json_get_raw(object, "payload", &payload);
    int count = !str_is_null(signal) + !str_is_null(topic) + is_cancel;
    if (count != 1) return refuse(diag, number, "give signal, event or cancel, one of them");
    item->kind = is_cancel ? SCRIPT_CANCEL : str_is_null(topic) ? SCRIPT_SIGNAL : SCRIPT_EVENT;
    item->name = arena_str(arena, str_is_null(topic) ? signal : topic);
    item->payload = arena_str(arena, payload);
    item->run_id = arena_str(arena, item->run_id);
    return OK;
}

static Status read_list(Arena *arena, Str text, EventScript *script, Diag *diag) {
    JsonValue *list;
    TRY(json_parse(arena, text, &list, diag));
    JSON_EACH (value, list) {
        size_t number = script->count + 1;
        if (number > ITEMS_MAX) return refuse(diag, number, "there are over 10000");
        ScriptItem *item = &script->items[script->count++];
        if (value->kind == JSON_KIND_STRING) {
            TRY(read_line(arena, value->string, number, item, diag));
            continue;
        }
        Diag cause;
        Status status = read_object(arena, value, number, item, &cause);
        if (status != OK) return refuse(diag, number, cause.message); // [script-1]
    }
    return OK;
}

// Insertion keeps the order of equal times; scripts are short.
static void sort_items(EventScript *script) {
    for (size_t i = 1; i < script->count; i++) {
        ScriptItem item = script->items[i];
        size_t at = i;
        for (; at > 0 && script->items[at - 1].after_ms > item.after_ms; at--)
            script->items[at] = script->items[at - 1];
        script->items[at] = item;
    }
}

Status script_parse(Arena *arena, Str text, EventScript *ret_script, Diag *diag) {
    *ret_script = (EventScript){.items = ARENA_ARRAY(arena, ScriptItem, ITEMS_MAX)};
    Str trimmed = str_trim(text);
    bool is_json = trimmed.len > 0 && trimmed.data[0] == '[';
    Status status = is_json ? read_list(arena, trimmed, ret_script, diag)
                            : read_lines(arena, trimmed, ret_script, diag);
    if (status == OK) sort_items(ret_script);
    return status;
}
