// Paths to values: parsing, and following one without running script code.
//
// People write them by hand, so what cannot be read is answered with the place in the text.
//
// Invariant [path-1] is in path.h.
//
// Not here: which variables there are (inspect.c).
#include "flow/snapshot/path.h"
#include "flow/snapshot/internal.h"

static bool is_name_byte(char c) {
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static Status bad_path(Str text, size_t at, Diag *diag) {
    return diag_set(diag, ERR_INVALID, "BAD_PATH",
                    "the path cannot be read at character %zu of \"%.*s\"; it looks like "
                    "order.items[3].price or prices[\"a b\"]",
                    at + 1, text.len < 100 ? (int)text.len : 100, text.data);
}

// name, or what stands in brackets; *at moves behind it.
static bool read_name(Str text, size_t *at, FlowPathPart *ret) {
    size_t start = *at;
    while (*at < text.len && is_name_byte(text.data[*at])) ++*at;
    *ret = (FlowPathPart){.name = {text.data + start, *at - start}};
    return *at > start;
}

static bool read_index(Str text, size_t *at, FlowPathPart *ret) {
    uint64_t index = 0;
    size_t start = *at;
    for (; *at < text.len && text.data[*at] >= '0' && text.data[*at] <= '9'; ++*at) {
        index = index * 10 + (uint64_t)(text.data[*at] - '0');
        if (index >= UINT32_MAX) return false;
    }
    *ret = (FlowPathPart){.index = (uint32_t)index};
    return *at > start;
}

static bool read_quoted(Str text, size_t *at, FlowPathPart *ret) {
    size_t start = ++*at;
    while (*at < text.len && text.data[*at] != '"' && text.data[*at] != '\\') ++*at;
    if (*at >= text.len || text.data[*at] != '"') return false;
    *ret = (FlowPathPart){.name = {text.data + start, *at - start}};
    ++*at;
    return true;
}

static bool read_part(Str text, size_t *at, FlowPathPart *ret) {
    char c = text.data[(*at)++];
    if (c == '.') return read_name(text, at, ret);
    if (c != '[' || *at >= text.len) return false;
    bool is_read = text.data[*at] == '"' ? read_quoted(text, at, ret) : read_index(text, at, ret);
    if (!is_read || *at >= text.len || text.data[*at] != ']') return false;
    ++*at;
    return true;
}

Status flow_path_parse(Str text, FlowPath *ret_path, Diag *diag) {
    FlowPath path = {.count = 1};
    size_t at = 0;
    if (text.len > PATH_SIZE_MAX) return bad_path(text, PATH_SIZE_MAX, diag);
    if (!read_name(text, &at, &path.parts[0])) return bad_path(text, at, diag);
    while (at < text.len) {
        if (path.count == PATH_PARTS_MAX || !read_part(text, &at, &path.parts[path.count]))
            return bad_path(text, at, diag);
        path.count++;
    }
    *ret_path = path;
    return OK;
}

static bool follow_part(FlowVm *vm, const FlowPathPart *part, FlowValue *value) {
    if (!flow_is_object(*value)) return false;
    FlowObject *object = flow_as_object(*value);
    FlowKind kind = (FlowKind)object->cell.kind;
    if (str_is_null(part->name)) {
        if (kind != KIND_ARRAY || part->index >= ((FlowArray *)object)->length) return false;
        *value = flow_object_element(vm, object, part->index);
        return true;
    }
    FlowString *name = flow_string_utf8(vm, part->name);
    if (kind == KIND_MAP) {
        FlowTable *table = flow_as_pointer(((FlowSlotObject *)object)->internal[0]);
        const FlowTableEntry *entry = flow_table_find(vm, table, flow_from_string(name));
        if (!entry) return false;
        *value = entry->value;
        return true;
    }
    FlowProperty property;
    FlowKey key = flow_key_string(vm, name);
    if (!flow_object_get_own(vm, object, key, &property)) return false;
    *value = flow_object_get_data(vm, object, key);
    return true;
}

bool flow_path_follow(FlowVm *vm, const FlowPath *path, FlowValue *value) {
    for (size_t i = 1; i < path->count; i++)
        if (!follow_part(vm, &path->parts[i], value)) return false;
    return true;
}
