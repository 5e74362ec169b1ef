// Masks: a set of paths is matched as one row of names, with a bit for each name that was met last
// (the Shift-And way of looking for several words at once). So a step costs the same however deep
// the value is, and what stands above needs not be kept.
//
// JSON is read as events. The state of each open container is kept; a value that is hidden is
// passed over and its bytes are replaced.
#include "json/mask.h"
#include "base/containers/buf.h"
#include "json/escape.h"
#include "json/read.h"
#include "json/write.h"

// ---- paths ----

static Status bad_path(Str path, const char *what, Diag *diag) {
    return diag_set(diag, ERR_INVALID, "BAD_PATH", "\"%.*s\": %s", STR_ARG(path), what);
}

static bool is_index(Str name) {
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] < '0' || name.data[i] > '9') return false;
    return true;
}

static Status check_name(Str path, Str name, Diag *diag) {
    if (name.len == 0) return bad_path(path, "a path is names with dots between", diag);
    if (is_index(name)) return bad_path(path, "indexes do not count: leave them out", diag);
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.data[i];
        if (c < ' ' || c == '[' || c == ']' || c == '*' || c == '"' || c == '\\' || c == 0x7f)
            return bad_path(path, "a path is names with dots between, without [, ] and *", diag);
    }
    return OK;
}

Status mask_add(Mask *mask, Str path, Diag *diag) {
    Mask more = *mask;
    if (path.len == 0 || path.len > MASK_PATH_SIZE_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_PATH", "a path has 1 to %d bytes",
                        MASK_PATH_SIZE_MAX);
    for (Str left = path, name; str_split(&left, '.', &name);) {
        bool is_first = name.data == path.data;
        TRY(check_name(path, name, diag));
        if (more.count == MASK_NAMES_MAX)
            return diag_set(diag, ERR_LIMIT, "TOO_LARGE",
                            "all paths together have at most %d names", MASK_NAMES_MAX);
        more.names[more.count] = name;
        more.paths[more.count] = path;
        if (is_first) more.starts |= UINT64_C(1) << more.count;
        more.count++;
    }
    if (path.data[path.len - 1] == '.')
        return bad_path(path, "a path is names with dots between", diag);
    more.ends |= UINT64_C(1) << (more.count - 1);
    *mask = more;
    return OK;
}

MaskState mask_step(const Mask *mask, MaskState state, Str name) {
    uint64_t is_name = 0;
    for (uint32_t i = 0; i < mask->count; i++)
        if (str_equal(mask->names[i], name)) is_name |= UINT64_C(1) << i;
    return mask_step_bits(mask, state, is_name);
}

Str mask_path(const Mask *mask, MaskState state) {
    uint64_t ended = state & mask->ends;
    return ended != 0 ? mask->paths[__builtin_ctzll(ended)] : STR_NULL;
}

static bool has_path(const Mask *mask, Str path) {
    for (uint32_t i = 0; mask != NULL && i < mask->count; i++)
        if (str_equal(mask->paths[i], path)) return true;
    return false;
}

Str mask_missing(const Mask *mask, const Mask *other) {
    for (uint32_t i = 0; other != NULL && i < other->count; i++)
        if (!has_path(mask, other->paths[i])) return other->paths[i];
    return STR_NULL;
}

// "[secret PATH]", as JSON.
static Str mask_text(Arena *arena, Str path) {
    Buf text;
    JsonWriter json;
    buf_init(&text, MASK_PATH_SIZE_MAX * 6 + 32);
    json_writer_init(&json, &text, STR_NULL);
    json_write_string(&json, arena_printf(arena, "[secret %.*s]", STR_ARG(path)));
    Str quoted = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return quoted;
}

// ---- JSON ----

typedef struct Walk {
    const Mask *mask;
    Str json;
    Arena *arena;
    JsonReader reader;
    MaskState states[LIMIT_JSON_DEPTH_MAX]; // of the open containers, outermost first
    size_t depth;
    MaskState next; // of the value that comes
    Buf out;
    size_t copied; // bytes of `json` that are in `out`, or replaced there
} Walk;

// Reads to the end of the value that the event begins.
static Status pass_value(Walk *walk, const JsonEvent *first) {
    JsonEvent event = *first;
    for (size_t depth = 0;;) {
        bool opens = event.kind == JSON_ARRAY_BEGIN || event.kind == JSON_OBJECT_BEGIN;
        bool closes = event.kind == JSON_ARRAY_END || event.kind == JSON_OBJECT_END;
        if (opens) depth++;
        if (closes) depth--;
        if (depth == 0 && event.kind != JSON_KEY) return OK;
        TRY(json_next(&walk->reader, &event, NULL));
    }
}

static Status hide_value(Walk *walk, const JsonEvent *event, Str path) {
    buf_append(&walk->out, walk->json.data + walk->copied, event->at - walk->copied);
    buf_append_str(&walk->out, mask_text(walk->arena, path));
    TRY(pass_value(walk, event));
    walk->copied = (size_t)(walk->reader.at - walk->reader.start);
    return OK;
}

static MaskState inherited(const Walk *walk) {
    return walk->depth > 0 ? walk->states[walk->depth - 1] : 0;
}

static Status take_value(Walk *walk, const JsonEvent *event) {
    bool is_hidden = (walk->next & walk->mask->ends) != 0 && event->kind != JSON_NULL;
    bool opens = event->kind == JSON_ARRAY_BEGIN || event->kind == JSON_OBJECT_BEGIN;
    if (is_hidden) TRY(hide_value(walk, event, mask_path(walk->mask, walk->next)));
    else if (opens) walk->states[walk->depth++] = walk->next;
    walk->next = inherited(walk); // of the next item; a key says otherwise
    return OK;
}

static Status walk_json(Walk *walk) {
    for (;;) {
        JsonEvent event;
        TRY(json_next(&walk->reader, &event, NULL));
        switch (event.kind) {
        case JSON_END: return OK;
        case JSON_ARRAY_END:
        case JSON_OBJECT_END:
            walk->depth--;
            walk->next = inherited(walk);
            break;
        case JSON_KEY:
            walk->next =
                mask_step(walk->mask, inherited(walk), json_string_arena(walk->arena, &event));
            break;
        default: TRY(take_value(walk, &event)); break;
        }
    }
}

Str mask_json_at(const Mask *mask, MaskState state, Str json, Arena *arena) {
    if (mask == NULL || str_is_null(json)) return json;
    if (mask->hides_all) return STR("\"[secret]\"");
    if (mask->count == 0) return json;
    Walk walk = {.mask = mask, .json = json, .arena = arena, .next = state};
    buf_init(&walk.out, SIZE_MAX - 1);
    json_reader_init(&walk.reader, json);
    Str answer = json;
    if (walk_json(&walk) != OK) {
        answer = STR("\"[secret]\""); // [json-mask-2]
    } else if (walk.copied > 0) {
        buf_append(&walk.out, json.data + walk.copied, json.len - walk.copied);
        answer = arena_str(arena, buf_str(&walk.out)); // [json-mask-1]
    }
    buf_done(&walk.out);
    return answer;
}

Str mask_json(const Mask *mask, Str name, Str json, Arena *arena) {
    bool has_name = mask != NULL && !str_is_null(name);
    return mask_json_at(mask, has_name ? mask_step(mask, 0, name) : 0, json, arena);
}
