// Realm building: from the tables and the prelude to objects. Runs once; see realm.c.
//
// Order: strings and symbols, then the prototypes (so that every object has one), the prelude,
// then constructors and methods, at last the global object.
//
//   [build-1] Nothing stays lazy: a shared function object cannot be completed later.
//   [build-2] Any fault here is our own mistake: ASSERT, with what is wrong on stderr.
#include "base/array.h"
#include "flow/builtin/core.h"
#include "flow/compile/compile.h"
#include "flow/realm/tables.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"
#include <stdio.h>

enum { CLASSES_MAX = 96, NAME_TEXT_MAX = 128 };

typedef struct BuiltClass {
    const FlowClassEntry *entry;
    FlowObject *constructor; // or the namespace object; NULL without either
    FlowObject *proto;       // NULL for namespaces
} BuiltClass;

typedef struct Builder {
    FlowVm *vm;
    FlowRealm *realm;
    BuiltClass classes[CLASSES_MAX];
    size_t class_count;
} Builder;

static _Noreturn void build_failed(const char *what, const char *name) {
    fprintf(stderr, "flow: cannot build the realm: %s: %s\n", what, name);
    UNREACHABLE();
}

// --- strings and symbols

static void build_strings(Builder *b) {
    for (int i = 0; i < 256; i++) {
        FlowString *s = flow_string_alloc(b->vm, 1, false);
        s->latin1[0] = (uint8_t)i;
        flow_atoms_add(&b->realm->atoms, s);
        b->realm->units[i] = s;
    }
    FlowString *empty = flow_string_alloc(b->vm, 0, false);
    flow_atoms_add(&b->realm->atoms, empty);
    b->realm->names[NAME_empty] = flow_from_string(empty);
    static const struct {
        FlowNameId id;
        const char *text;
    } names[] = {
#define NAME(text) {NAME_##text, #text},
        FLOW_NAMES(NAME)
#undef NAME
            {NAME_return, "return"},
        {NAME_throw, "throw"},
        {NAME_default, "default"},
        {NAME_null, "null"},
        {NAME_true, "true"},
        {NAME_false, "false"},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        b->realm->names[names[i].id] = flow_from_string(flow_atom_cstr(b->vm, names[i].text));
    }
}

static const char *const symbol_names[SYMBOL_ID_COUNT] = {
    [SYMBOL_ITERATOR] = "iterator",
    [SYMBOL_ASYNC_ITERATOR] = "asyncIterator",
    [SYMBOL_TO_PRIMITIVE] = "toPrimitive",
    [SYMBOL_HAS_INSTANCE] = "hasInstance",
    [SYMBOL_TO_STRING_TAG] = "toStringTag",
    [SYMBOL_SPECIES] = "species",
    [SYMBOL_IS_CONCAT_SPREADABLE] = "isConcatSpreadable",
    [SYMBOL_MATCH] = "match",
    [SYMBOL_MATCH_ALL] = "matchAll",
    [SYMBOL_REPLACE] = "replace",
    [SYMBOL_SEARCH] = "search",
    [SYMBOL_SPLIT] = "split",
    [SYMBOL_UNSCOPABLES] = "unscopables",
};

static void build_symbols(Builder *b) {
    for (uint32_t i = 0; i < SYMBOL_ID_COUNT; i++) {
        char text[NAME_TEXT_MAX];
        snprintf(text, sizeof text, "Symbol.%s", symbol_names[i]);
        FlowString *description = flow_atom_cstr(b->vm, text);
        FlowSymbol *symbol = flow_symbol_new(b->vm, flow_from_string(description));
        symbol->well_known = i + 1;
        b->realm->symbols[i] = symbol;
        flow_realm_name(b->vm, symbol, "@@", symbol_names[i]);
    }
}

static FlowKey entry_key(Builder *b, const char *name) {
    if (name[0] != '@') return flow_key_cstr(b->vm, name);
    for (uint32_t i = 0; i < SYMBOL_ID_COUNT; i++) {
        if (strcmp(symbol_names[i], name + 2) == 0) {
            return (FlowKey){flow_from_symbol(b->realm->symbols[i]).bits};
        }
    }
    build_failed("unknown symbol", name);
}

// --- prototypes

static BuiltClass *find_class(Builder *b, const char *name) {
    for (size_t i = 0; i < b->class_count; i++) {
        if (strcmp(b->classes[i].entry->name, name) == 0) return &b->classes[i];
    }
    build_failed("unknown class", name);
}

static FlowNativeResult function_prototype(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, FLOW_UNDEFINED);
}
static const FlowNativeEntry function_prototype_entry = NATIVE("", function_prototype, 0);

static FlowObject *proto_alloc(Builder *b, const FlowClassEntry *entry, FlowObject *parent) {
    uint8_t id = entry->proto_id;
    if (id == 1 + PROTO_FUNCTION) {
        FlowNativeFunction *function = (FlowNativeFunction *)flow_object_alloc(
            b->vm, KIND_NATIVE_FUNCTION, sizeof *function, parent);
        function->entry = &function_prototype_entry;
        for (int i = 0; i < 4; i++) function->data[i] = FLOW_UNDEFINED;
        return &function->object;
    }
    if (id == 1 + PROTO_ARRAY) {
        return flow_object_alloc(b->vm, KIND_ARRAY, sizeof(FlowArray), parent);
    }
    bool is_wrapper = id == 1 + PROTO_STRING || id == 1 + PROTO_NUMBER || id == 1 + PROTO_BOOLEAN;
    if (is_wrapper) { // String.prototype is itself a String object, and so on
        FlowKind kind = id == 1 + PROTO_STRING   ? KIND_STRING_OBJECT
                        : id == 1 + PROTO_NUMBER ? KIND_NUMBER_OBJECT
                                                 : KIND_BOOLEAN_OBJECT;
        FlowSlotObject *object = flow_slot_object_new(b->vm, kind, parent);
        object->internal[0] = id == 1 + PROTO_STRING   ? FLOW_NAME(b->vm, empty)
                              : id == 1 + PROTO_NUMBER ? flow_int(0)
                                                       : FLOW_FALSE;
        return &object->object;
    }
    return flow_object_new_sized(b->vm, parent, 0);
}

static bool is_namespace(const FlowClassEntry *entry) {
    return !entry->constructor.name && !entry->proto_id;
}

static void build_prototypes(Builder *b) {
    for (size_t i = 0; flow_realm_classes[i]; i++) {
        const FlowClassEntry *entry = flow_realm_classes[i];
        if (b->class_count == CLASSES_MAX) build_failed("too many classes", entry->name);
        BuiltClass *built = &b->classes[b->class_count++];
        built->entry = entry;
        if (is_namespace(entry)) continue;
        FlowObject *parent = b->realm->protos[PROTO_OBJECT];
        if (entry->parent) parent = find_class(b, entry->parent)->proto;
        built->proto = proto_alloc(b, entry, parent);
        if (entry->proto_id) b->realm->protos[entry->proto_id - 1] = built->proto;
        flow_realm_name(b->vm, built->proto, entry->name, "prototype");
    }
}

// --- functions

static void define_function_fields(Builder *b, FlowObject *function, const char *name,
                                   const char *prefix, uint32_t length) {
    FlowVm *vm = b->vm;
    FlowValue key = (FlowValue){entry_key(b, name).bits};
    FlowValue text = flow_function_name_of_key(vm, key, prefix);
    text = flow_from_string(flow_atom(vm, flow_as_string(text)));
    function->cell.aux &= ~(uint32_t)OBJECT_LAZY_FUNCTION; // [build-1]
    flow_object_define(vm, function, FLOW_KEY(vm, length), flow_int((int32_t)length),
                       PROPERTY_CONFIGURABLE);
    flow_object_define(vm, function, FLOW_KEY(vm, name), text, PROPERTY_CONFIGURABLE);
}

static FlowObject *make_function(Builder *b, const FlowNativeEntry *entry) {
    const char *prefix = entry->flags & NATIVE_GETTER   ? "get "
                         : entry->flags & NATIVE_SETTER ? "set "
                                                        : "";
    FlowObject *function;
    if (entry->flags & NATIVE_PRELUDE) {
        uint32_t index = flow_module_find_routine(b->realm->prelude, str_from(entry->prelude));
        if (index == UINT32_MAX) build_failed("no prelude routine", entry->prelude);
        const FlowRoutine *routine = &b->realm->prelude->routines[index];
        function = &flow_closure_new(b->vm, routine)->object;
    } else {
        if (!entry->function) build_failed("no native for", entry->name);
        function = &flow_native_function_new(b->vm, entry)->object;
    }
    define_function_fields(b, function, entry->name, prefix, entry->length);
    return function;
}

static FlowValue make_value(Builder *b, const FlowNativeEntry *entry) {
    FlowValue this_value = FLOW_UNDEFINED;
    FlowNativeCall call = {
        .this_value = &this_value,
        .arguments = &this_value,
        .new_target = FLOW_UNDEFINED,
        .function = flow_from_object(flow_native_function_new(b->vm, entry)),
        .result = FLOW_UNDEFINED,
    };
    if (entry->function(b->vm, &call) != NATIVE_OK) build_failed("value failed", entry->name);
    return call.result;
}

static void define_entry(Builder *b, FlowObject *object, const char *path,
                         const FlowNativeEntry *entry) {
    FlowVm *vm = b->vm;
    FlowKey key = entry_key(b, entry->name);
    if (entry->flags & NATIVE_ALIAS) {
        FlowProperty property;
        FlowKey of = entry_key(b, entry->prelude);
        bool is_found = flow_object_get_own(vm, object, of, &property) ||
                        flow_object_get_own(vm, b->realm->global, of, &property);
        if (!is_found) build_failed("alias of nothing", entry->name);
        flow_object_define(vm, object, key, property.value, PROPERTY_HIDDEN);
        return;
    }
    if (entry->flags & NATIVE_VALUE) {
        bool is_frozen = entry->flags & NATIVE_FROZEN;
        flow_object_define(vm, object, key, make_value(b, entry), is_frozen ? 0 : PROPERTY_HIDDEN);
        return;
    }
    FlowObject *function = make_function(b, entry);
    char name[NAME_TEXT_MAX];
    bool is_accessor = entry->flags & (NATIVE_GETTER | NATIVE_SETTER);
    const char *prefix = entry->flags & NATIVE_GETTER ? "get " : is_accessor ? "set " : "";
    snprintf(name, sizeof name, "%s%s", prefix, entry->name);
    flow_realm_name(vm, function, path, name);
    FlowValue value = flow_from_object(function);
    if (entry->flags & NATIVE_GETTER) {
        flow_object_define_accessor(vm, object, key, (FlowGetSet){value, FLOW_HOLE},
                                    PROPERTY_CONFIGURABLE);
    } else if (entry->flags & NATIVE_SETTER) {
        flow_object_define_accessor(vm, object, key, (FlowGetSet){FLOW_HOLE, value},
                                    PROPERTY_CONFIGURABLE);
    } else {
        bool is_fixed = strcmp(entry->name, "@@hasInstance") == 0;
        bool is_symbol_method = strcmp(entry->name, "@@toPrimitive") == 0;
        flow_object_define(vm, object, key, value,
                           is_fixed           ? 0
                           : is_symbol_method ? PROPERTY_CONFIGURABLE
                                              : PROPERTY_HIDDEN);
    }
}

static void define_entries(Builder *b, FlowObject *object, const char *path,
                           const FlowNativeEntry *entries) {
    for (; entries && entries->name; entries++) define_entry(b, object, path, entries);
}

static void define_tag(Builder *b, FlowObject *object, const char *tag) {
    FlowKey key = {flow_from_symbol(b->realm->symbols[SYMBOL_TO_STRING_TAG]).bits};
    FlowValue text = flow_from_string(flow_atom_cstr(b->vm, tag));
    flow_object_define(b->vm, object, key, text, PROPERTY_CONFIGURABLE);
}

// --- classes

static void build_constructor(Builder *b, BuiltClass *built) {
    FlowVm *vm = b->vm;
    const FlowClassEntry *entry = built->entry;
    if (!entry->constructor.name) return;
    FlowObject *constructor = make_function(b, &entry->constructor);
    built->constructor = constructor;
    flow_realm_name(vm, constructor, "", entry->name);
    if (entry->parent) {
        FlowObject *parent = find_class(b, entry->parent)->constructor;
        if (parent) flow_object_set_proto(vm, constructor, parent);
    }
    flow_object_define(vm, constructor, FLOW_KEY(vm, prototype), flow_from_object(built->proto), 0);
    flow_object_define(vm, built->proto, FLOW_KEY(vm, constructor), flow_from_object(constructor),
                       PROPERTY_HIDDEN);
}

static void build_class(Builder *b, BuiltClass *built) {
    const FlowClassEntry *entry = built->entry;
    char path[NAME_TEXT_MAX];
    if (is_namespace(entry)) {
        built->constructor = flow_object_new_sized(b->vm, b->realm->protos[PROTO_OBJECT], 0);
        flow_realm_name(b->vm, built->constructor, "", entry->name);
        define_entries(b, built->constructor, entry->name, entry->statics);
        define_entries(b, built->constructor, entry->name, entry->members);
        if (entry->tag) define_tag(b, built->constructor, entry->tag);
        return;
    }
    build_constructor(b, built);
    if (built->constructor) define_entries(b, built->constructor, entry->name, entry->statics);
    snprintf(path, sizeof path, "%s.prototype", entry->name);
    define_entries(b, built->proto, path, entry->members);
    if (entry->tag) define_tag(b, built->proto, entry->tag);
}

// GeneratorFunction.prototype.prototype is the prototype of generators, and so on.
static void link_generators(Builder *b) {
    FlowVm *vm = b->vm;
    static const struct {
        FlowProtoId function;
        FlowProtoId object;
    } pairs[] = {
        {PROTO_GENERATOR_FUNCTION, PROTO_GENERATOR},
        {PROTO_ASYNC_GENERATOR_FUNCTION, PROTO_ASYNC_GENERATOR},
    };
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        FlowObject *function = b->realm->protos[pairs[i].function];
        FlowObject *object = b->realm->protos[pairs[i].object];
        flow_object_define(vm, function, FLOW_KEY(vm, prototype), flow_from_object(object),
                           PROPERTY_CONFIGURABLE);
        flow_object_define(vm, object, FLOW_KEY(vm, constructor), flow_from_object(function),
                           PROPERTY_CONFIGURABLE);
    }
}

// --- the prelude

static void build_prelude(Builder *b) {
    FlowRealm *realm = b->realm;
    Diag diag = {0};
    Str source = {flow_prelude_source, flow_prelude_source_len};
    if (flow_compile_prelude(STR("prelude"), source, &realm->prelude, &diag) != OK) {
        build_failed("prelude", diag.message);
    }
    uint32_t count = realm->prelude->routine_count;
    realm->prelude_closures =
        arena_zalloc(&realm->prelude->arena, count * sizeof *realm->prelude_closures);
    for (uint32_t i = 0; i < count; i++) {
        const FlowRoutine *routine = &realm->prelude->routines[i];
        if (routine->upvalue_count || routine->flags & (ROUTINE_MODULE | ROUTINE_ARROW)) continue;
        FlowClosure *closure = flow_closure_new(b->vm, routine);
        char name[NAME_TEXT_MAX];
        FlowString *text = flow_as_string(routine->name);
        snprintf(name, sizeof name, "%.*s", (int)flow_string_length(text),
                 (const char *)text->latin1);
        define_function_fields(b, &closure->object, name, "", routine->length);
        realm->prelude_closures[i] = closure;
        flow_realm_name(b->vm, closure, "%prelude", name);
    }
}

static void build_helpers(Builder *b) {
    static const char *const names[HELPER_COUNT] = {
#define HELPER(name) #name,
        FLOW_HELPERS(HELPER)
#undef HELPER
    };
    for (uint32_t i = 0; i < HELPER_COUNT; i++) {
        uint32_t index = flow_module_find_routine(b->realm->prelude, str_from(names[i]));
        if (index == UINT32_MAX) build_failed("no prelude helper", names[i]);
        b->realm->helpers[i] = b->realm->prelude_closures[index];
    }
}

static void build_intrinsics(Builder *b) {
    uint32_t count = 0;
    while (flow_intrinsic(count)) count++;
    b->realm->intrinsics =
        arena_zalloc(&b->realm->prelude->arena, (count + 1) * sizeof *b->realm->intrinsics);
    for (uint32_t i = 0; i < count; i++) {
        const FlowNativeEntry *entry = flow_intrinsic(i);
        FlowNativeFunction *function = flow_native_function_new(b->vm, entry);
        function->object.cell.aux &= ~(uint32_t)OBJECT_LAZY_FUNCTION;
        b->realm->intrinsics[i] = &function->object;
        flow_realm_name(b->vm, function, "%intrinsic", entry->name);
    }
}

// --- the global object

static void build_global(Builder *b) {
    FlowVm *vm = b->vm;
    FlowObject *global = b->realm->global;
    for (size_t i = 0; i < b->class_count; i++) {
        const BuiltClass *built = &b->classes[i];
        if (!built->constructor || built->entry->name[0] == '%') continue;
        flow_object_define(vm, global, flow_key_cstr(vm, built->entry->name),
                           flow_from_object(built->constructor), PROPERTY_HIDDEN);
    }
    define_tag(b, global, "global");
}

// Before the classes, because they may have aliases of global functions (Number.parseFloat).
static void build_global_functions(Builder *b) {
    for (size_t i = 0; flow_realm_globals[i]; i++) {
        define_entries(b, b->realm->global, "globalThis", flow_realm_globals[i]);
    }
}

static FlowObject *builtin_object(Builder *b, FlowObject *holder, FlowKey key, const char *what) {
    FlowValue value = flow_object_get_data(b->vm, holder, key);
    if (!flow_is_object(value)) build_failed("missing", what);
    return flow_as_object(value);
}

static FlowNativeResult throw_type_error(FlowVm *vm, FlowNativeCall *call) {
    (void)call;
    return flow_native_throw(vm, ERROR_KIND_TYPE,
                             "'caller', 'callee', and 'arguments' properties may not be accessed "
                             "on strict mode functions or the arguments objects for calls to them");
}
static const FlowNativeEntry thrower_entry = NATIVE("%thrower", throw_type_error, 0);

static void build_thrower(Builder *b) {
    FlowVm *vm = b->vm;
    FlowObject *thrower = &flow_native_function_new(vm, &thrower_entry)->object;
    define_function_fields(b, thrower, "", "", 0);
    flow_object_prevent_extensions(vm, thrower);
    flow_realm_name(vm, thrower, "%", "throwTypeError");
    b->realm->thrower = thrower;
    FlowValue value = flow_from_object(thrower);
    FlowGetSet pair = {value, value};
    FlowObject *proto = b->realm->protos[PROTO_FUNCTION];
    flow_object_define_accessor(vm, proto, flow_key_cstr(vm, "caller"), pair,
                                PROPERTY_CONFIGURABLE);
    flow_object_define_accessor(vm, proto, flow_key_cstr(vm, "arguments"), pair,
                                PROPERTY_CONFIGURABLE);
}

static void build_shortcuts(Builder *b) {
    FlowVm *vm = b->vm;
    FlowRealm *realm = b->realm;
    FlowKey iterator = {flow_from_symbol(realm->symbols[SYMBOL_ITERATOR]).bits};
    realm->promise_constructor = find_class(b, "Promise")->constructor;
    realm->promise_then =
        builtin_object(b, realm->protos[PROTO_PROMISE], FLOW_KEY(vm, then), "Promise then");
    realm->array_values = builtin_object(b, realm->protos[PROTO_ARRAY], iterator, "Array iterator");
    realm->array_iterator_next = builtin_object(b, realm->protos[PROTO_ARRAY_ITERATOR],
                                                FLOW_KEY(vm, next), "Array iterator next");
}

void flow_realm_build(FlowVm *vm) {
    static Builder builder;
    Builder *b = &builder;
    *b = (Builder){.vm = vm, .realm = vm->building};
    build_strings(b);
    build_symbols(b);
    build_prototypes(b);
    b->realm->global = flow_object_new_sized(vm, b->realm->protos[PROTO_OBJECT], 0);
    flow_realm_name(vm, b->realm->global, "", "globalThis");
    define_function_fields(b, b->realm->protos[PROTO_FUNCTION], "", "", 0);
    build_prelude(b);
    build_helpers(b);
    build_intrinsics(b);
    build_global_functions(b);
    for (size_t i = 0; i < b->class_count; i++) build_class(b, &b->classes[i]);
    link_generators(b);
    build_thrower(b);
    build_global(b);
    build_shortcuts(b);
    for (size_t i = 0; i < 2; i++) {
        flow_realm_name(vm, &flow_resolving_entries[i], "%resolving", i ? "reject" : "resolve");
        flow_realm_name(vm, &flow_combinator_entries[i], "%element", i ? "reject" : "resolve");
    }
}
