// Differences of variables, walked side by side.
//
// Values are nested as deep as their views are, which is bounded where the views are made; lists
// are short for the same reason, so that a search per item is cheap enough.
//
// Invariant [view-diff-1] is in view_diff.h.
//
// Not here: making the pictures (inspect.c).
#include "engine/inspect/view_diff.h"
#include "base/containers/buf.h"

typedef struct Diff {
    JsonWriter *json;
    Str function;
    Buf path;
    size_t count;
} Diff;

static Str text_of(const JsonValue *object, const char *name) {
    const JsonValue *member = object != NULL ? json_member(object, str_from(name)) : NULL;
    return member != NULL && member->kind == JSON_KIND_STRING ? member->string : STR_NULL;
}

static Str raw_of(const JsonValue *object, const char *name) {
    Str raw = STR_NULL;
    json_get_raw(object, name, &raw);
    return raw;
}

static void put_change(Diff *diff, const char *change, const JsonValue *from, const JsonValue *to) {
    if (diff->count++ >= DIFF_CHANGES_MAX) return;
    json_write_object_begin(diff->json);
    json_put_string(diff->json, "function", diff->function);
    json_put_string(diff->json, "path", buf_str(&diff->path));
    json_put_cstr(diff->json, "change", change);
    json_put_string(diff->json, "from", text_of(from, "text"));
    json_put_string(diff->json, "to", text_of(to, "text"));
    json_write_object_end(diff->json);
}

static const JsonValue *find(const JsonValue *list, const char *field, Str name) {
    if (list == NULL) return NULL;
    JSON_EACH (item, list) {
        if (str_equal(text_of(item, field), name)) return item;
    }
    return NULL;
}

static bool is_word(Str key) {
    for (size_t i = 0; i < key.len; i++) {
        char c = key.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
        if (!is_letter && !(i > 0 && c >= '0' && c <= '9')) return false;
    }
    return key.len > 0;
}

static void append_key(Buf *path, const JsonValue *owner, Str key) {
    Str type = text_of(owner, "type");
    bool is_list = str_equal(type, STR("array")) || str_equal(type, STR("set"));
    if (is_list) buf_printf(path, "[%.*s]", STR_ARG(key));
    else if (is_word(key)) buf_printf(path, ".%.*s", STR_ARG(key));
    else buf_printf(path, "[\"%.*s\"]", STR_ARG(key));
}

static void diff_views(Diff *diff, const JsonValue *from, const JsonValue *to);

static void diff_items(Diff *diff, const JsonValue *from, const JsonValue *to) {
    const JsonValue *before = json_member(from, STR("items"));
    const JsonValue *after = json_member(to, STR("items"));
    size_t path_len = diff->path.len;
    if (after != NULL) {
        JSON_EACH (item, after) {
            append_key(&diff->path, to, text_of(item, "key"));
            diff_views(diff, find(before, "key", text_of(item, "key")), item);
            diff->path.len = path_len;
        }
    }
    if (before == NULL) return;
    JSON_EACH (item, before) {
        if (find(after, "key", text_of(item, "key")) != NULL) continue;
        append_key(&diff->path, from, text_of(item, "key"));
        diff_views(diff, item, NULL);
        diff->path.len = path_len;
    }
}

static void diff_views(Diff *diff, const JsonValue *from, const JsonValue *to) {
    if (from == NULL || to == NULL) {
        put_change(diff, from == NULL ? "added" : "removed", from, to);
        return;
    }
    bool has_items =
        json_member(from, STR("items")) != NULL || json_member(to, STR("items")) != NULL;
    if (!str_equal(text_of(from, "type"), text_of(to, "type"))) {
        put_change(diff, "changed", from, to);
    } else if (has_items) {
        size_t count = diff->count;
        diff_items(diff, from, to);
        bool is_hidden =
            diff->count == count && !str_equal(raw_of(from, "size"), raw_of(to, "size"));
        if (is_hidden) put_change(diff, "changed", from, to);
    } else if (!str_equal(text_of(from, "text"), text_of(to, "text")) ||
               !str_equal(raw_of(from, "size"), raw_of(to, "size"))) {
        put_change(diff, "changed", from, to);
    }
}

static void diff_frames(Diff *diff, const JsonValue *from, const JsonValue *to) {
    const JsonValue *before = from != NULL ? json_member(from, STR("variables")) : NULL;
    const JsonValue *after = to != NULL ? json_member(to, STR("variables")) : NULL;
    diff->function = text_of(to != NULL ? to : from, "function");
    if (after != NULL) {
        JSON_EACH (variable, after) {
            buf_clear(&diff->path);
            buf_append_str(&diff->path, text_of(variable, "name"));
            diff_views(diff, find(before, "name", text_of(variable, "name")), variable);
        }
    }
    if (before == NULL) return;
    JSON_EACH (variable, before) {
        if (find(after, "name", text_of(variable, "name")) != NULL) continue;
        buf_clear(&diff->path);
        buf_append_str(&diff->path, text_of(variable, "name"));
        diff_views(diff, variable, NULL);
    }
}

bool view_diff_write(const JsonValue *from_frames, const JsonValue *to_frames, JsonWriter *json) {
    Diff diff = {.json = json};
    buf_init(&diff.path, 1 << 20);
    JSON_EACH (frame, to_frames) {
        diff_frames(&diff, find(from_frames, "function", text_of(frame, "function")), frame);
    }
    JSON_EACH (frame, from_frames) {
        if (find(to_frames, "function", text_of(frame, "function")) == NULL)
            diff_frames(&diff, frame, NULL);
    }
    buf_done(&diff.path);
    return diff.count > DIFF_CHANGES_MAX;
}
