// Secret: values that stand for texts which only the server's environment knows.
//
// A secret has a name and perhaps a prefix, and nothing else: the text never comes into a VM. As
// text, as JSON and to people it is a mask, "[secret NAME]". In the input of a task the list of
// places goes along (host.h), and who hands out the task puts the text there.
//
//   [text-secret-1] The list is made from the values themselves, so no text that merely looks
//        like a mask is in it.
//   [text-secret-2] An input with secrets is written without running code of the script: what
//        has a toJSON or a getter is refused there, or places and text might not fit.
#include "base/secret.h"
#include "flow/builtin/core.h"
#include "flow/builtin/objects.h"
#include "flow/check/api.h"
#include "flow/vm/vm.h"
#include "json/escape.h"
#include "json/mask.h"
#include "json/value.h"

enum { PLACE_DEPTH_MAX = 100, PLACE_PARTS_MAX = 1 << 20, PLACES_SIZE_MAX = 1 << 20 };

// ---- the value ----

void flow_secret_mask(FlowVm *vm, const FlowObject *secret, Buf *out) {
    const FlowSlotObject *slots = (const FlowSlotObject *)secret;
    buf_append_cstr(out, "[secret ");
    flow_string_to_utf8(vm, flow_as_string(slots->internal[0]), out);
    buf_append_cstr(out, "]");
}

static FlowString *mask_text(FlowVm *vm, const FlowObject *secret) {
    Buf text;
    buf_init(&text, MASK_PATH_SIZE_MAX + 32);
    flow_secret_mask(vm, secret, &text);
    FlowString *mask = flow_string_utf8(vm, buf_str(&text));
    buf_done(&text);
    return mask;
}

static FlowNativeResult secret_to_text(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    if (!flow_is_kind(self, KIND_SECRET))
        return flow_native_throw(vm, ERROR_KIND_TYPE, "not a secret");
    return flow_native_return(call, flow_from_string(mask_text(vm, flow_as_object(self))));
}

static Status read_prefix(FlowVm *vm, Str options, FlowString **ret_prefix, Diag *diag) {
    Arena arena;
    JsonValue *object = NULL;
    Str prefix = STR("");
    arena_init(&arena);
    Status status =
        str_is_null(options) ? OK : flow_api_read_options("Secret.get", options, &arena, diag);
    if (status == OK && !str_is_null(options)) {
        status = json_parse(&arena, options, &object, diag);
        if (status == OK) status = json_get_string(object, "prefix", &prefix, diag);
    }
    if (status == OK) *ret_prefix = flow_string_utf8(vm, prefix);
    arena_done(&arena);
    return status;
}

static FlowValue secret_new(FlowVm *vm, FlowValue name, FlowString *prefix) {
    FlowSlotObject *secret = flow_slot_object_new(vm, KIND_SECRET, vm->realm->protos[PROTO_SECRET]);
    for (int i = 0; i < 4; i++) secret->internal[i] = FLOW_UNDEFINED;
    secret->internal[0] = name;
    secret->internal[1] = flow_from_string(prefix);
    flow_object_prevent_extensions(vm, &secret->object);
    vm->has_secrets = true;
    return flow_from_object(secret);
}

FlowValue flow_secret_new(FlowVm *vm, FlowString *name) {
    return secret_new(vm, flow_from_string(name), flow_string_empty(vm));
}

// %secretNew(name, optionsJson)
static FlowNativeResult secret_make(FlowVm *vm, FlowNativeCall *call) {
    Buf name, options;
    Diag diag = {0};
    FlowString *prefix = NULL;
    FlowValue given = flow_argument(call, 0), more = flow_argument(call, 1);
    buf_init(&name, SECRET_NAME_MAX * 4);
    buf_init(&options, PLACES_SIZE_MAX);
    if (flow_is_string(given)) flow_string_to_utf8(vm, flow_as_string(given), &name);
    if (flow_is_string(more)) flow_string_to_utf8(vm, flow_as_string(more), &options);
    Status status = OK;
    if (name.is_overflown || !secret_is_name(buf_str(&name)))
        status = diag_set(&diag, ERR_INVALID, "BAD_NAME",
                          "the name of a secret is a letter, then letters, digits and \"_\", %d at "
                          "most",
                          SECRET_NAME_MAX);
    Str text = flow_is_string(more) ? buf_str(&options) : STR_NULL;
    if (status == OK) status = read_prefix(vm, text, &prefix, &diag);
    buf_done(&name);
    buf_done(&options);
    if (status != OK) return flow_native_throw(vm, ERROR_KIND_TYPE, "%s", diag.message);
    return flow_native_return(call, secret_new(vm, given, prefix));
}

// ---- places in an input ----

typedef struct PlaceLevel {
    FlowObject *object;
    FlowArray *keys; // of objects
    uint32_t next, count;
} PlaceLevel;

typedef struct PlaceSearch {
    FlowVm *vm;
    PlaceLevel levels[PLACE_DEPTH_MAX];
    uint32_t depth;
    Buf out;          // the list
    const char *odd;  // why an input with secrets could not be written like this; NULL: it can
    bool has_secrets; // some were found
    bool is_cut;      // there is more than was looked at
    uint32_t seen;    // parts of the input
} PlaceSearch;

static FlowValue key_at(PlaceSearch *search, const PlaceLevel *level, uint32_t index) {
    return level->keys ? flow_object_element(search->vm, &level->keys->object, index)
                       : flow_uint(index);
}

static void put_string(PlaceSearch *search, FlowValue string) {
    Buf text;
    buf_init(&text, PLACES_SIZE_MAX);
    flow_string_to_utf8(search->vm, flow_as_string(string), &text);
    json_append_string(&search->out, buf_str(&text));
    if (text.is_overflown) search->odd = "a member on the way to a secret has too long a name";
    buf_done(&text);
}

static void put_place(PlaceSearch *search, const FlowSlotObject *secret) {
    buf_append_cstr(&search->out, search->has_secrets ? ",[" : "[");
    put_string(search, secret->internal[0]);
    buf_append_char(&search->out, ',');
    put_string(search, secret->internal[1]);
    for (uint32_t i = 0; i < search->depth; i++) {
        const PlaceLevel *level = &search->levels[i];
        buf_append_char(&search->out, ',');
        if (level->keys) put_string(search, key_at(search, level, level->next - 1));
        else buf_printf(&search->out, "%u", level->next - 1);
    }
    buf_append_char(&search->out, ']');
    search->has_secrets = true;
}

static bool has_to_json(FlowVm *vm, FlowObject *object) {
    FlowProperty property;
    if (!flow_object_lookup(vm, object, flow_key_cstr(vm, "toJSON"), &property)) return false;
    return property.attributes & PROPERTY_ACCESSOR || flow_is_callable(property.value);
}

static void open_level(PlaceSearch *search, FlowObject *object) {
    if (search->depth == PLACE_DEPTH_MAX) {
        search->odd = "it is more than 100 levels deep, or holds itself";
        search->is_cut = true;
        return;
    }
    bool is_array = object->cell.kind == KIND_ARRAY;
    PlaceLevel *level = &search->levels[search->depth++];
    *level = (PlaceLevel){.object = object};
    if (is_array) level->count = ((FlowArray *)object)->length;
    else level->keys = flow_object_keys(search->vm, object, KEYS_STRINGS | KEYS_ENUMERABLE_ONLY);
    if (!is_array) level->count = level->keys->length;
}

static void look_at(PlaceSearch *search, FlowValue value) {
    if (!flow_is_object(value) || flow_is_callable(value)) return;
    FlowObject *object = flow_as_object(value);
    FlowKind kind = (FlowKind)object->cell.kind;
    if (kind == KIND_SECRET) put_place(search, (const FlowSlotObject *)object);
    else if (has_to_json(search->vm, object)) search->odd = "it has a toJSON of its own";
    else if (kind == KIND_ARRAY || kind == KIND_OBJECT) open_level(search, object);
}

// The value of the next member of the innermost level; HOLE: there is none that is written.
static FlowValue next_member(PlaceSearch *search, PlaceLevel *level) {
    FlowProperty property;
    FlowKey key;
    FlowValue name = key_at(search, level, level->next++);
    if (!flow_key_from_value(search->vm, name, &key) ||
        !flow_object_get_own(search->vm, level->object, key, &property))
        return FLOW_HOLE;
    if (property.attributes & PROPERTY_ACCESSOR) search->odd = "it has a getter";
    return property.attributes & PROPERTY_ACCESSOR ? FLOW_HOLE : property.value;
}

static void find_places(PlaceSearch *search, FlowValue input) {
    look_at(search, input);
    while (search->depth > 0 && !search->is_cut) {
        if (++search->seen == PLACE_PARTS_MAX ||
            search->out.is_overflown) { // what is shared counts
            search->odd = "it has too many parts";
            search->is_cut = true;
        }
        PlaceLevel *level = &search->levels[search->depth - 1];
        if (level->next == level->count) search->depth--;
        else look_at(search, next_member(search, level));
    }
}

// %secretPlaces(input): the list as JSON; undefined: there are none.
static FlowNativeResult secret_places(FlowVm *vm, FlowNativeCall *call) {
    if (!vm->has_secrets) return flow_native_return(call, FLOW_UNDEFINED);
    PlaceSearch search = {.vm = vm};
    buf_init(&search.out, PLACES_SIZE_MAX);
    buf_append_char(&search.out, '[');
    find_places(&search, flow_argument(call, 0));
    buf_append_char(&search.out, ']');
    if (search.out.is_overflown) search.odd = "it has too many secrets";
    FlowNativeResult result = NATIVE_OK;
    if ((search.has_secrets && search.odd) || search.is_cut) // [text-secret-2]
        result = flow_native_throw(vm, ERROR_KIND_TYPE,
                                   "the input of a task with secrets must be plain data: %s",
                                   search.odd);
    else if (search.has_secrets)
        result =
            flow_native_return(call, flow_from_string(flow_string_utf8(vm, buf_str(&search.out))));
    else result = flow_native_return(call, FLOW_UNDEFINED);
    buf_done(&search.out);
    return result;
}

// ---- tables ----

static const FlowNativeEntry secret_statics[] = {
    PRELUDE("get", "Secret_get", 2),
    NATIVE_END,
};
const FlowClassEntry flow_class_secret = {
    .name = "Secret", .statics = secret_statics, .tag = "Secret"};

static const FlowNativeEntry secret_members[] = {
    NATIVE("toString", secret_to_text, 0),
    NATIVE("toJSON", secret_to_text, 1),
    NATIVE("@@toPrimitive", secret_to_text, 1),
    NATIVE_END,
};
const FlowClassEntry flow_class_secret_value = {
    .name = "%Secret", .members = secret_members, .proto_id = 1 + PROTO_SECRET};

const FlowNativeEntry flow_intrinsics_secret[] = {
    NATIVE("secretNew", secret_make, 2),
    NATIVE("secretPlaces", secret_places, 1),
    NATIVE_END,
};
