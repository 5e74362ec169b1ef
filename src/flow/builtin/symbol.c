// Symbol: the constructor, the registry of Symbol.for, and the well-known symbols.
//
// Well-known symbols belong to the realm and are the same for every VM.
//   [symbol-1] The registry is vm->symbols: an array of the registered symbols, part of the run's
//        state, so that Symbol.for gives the same symbol after a snapshot.
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

static FlowNativeResult symbol_constructor(FlowVm *vm, FlowNativeCall *call) {
    if (!flow_is_undefined(call->new_target)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Symbol is not a constructor");
    }
    FlowValue description = FLOW_UNDEFINED;
    if (!flow_is_undefined(flow_argument(call, 0))) {
        FlowString *text;
        TRY_NATIVE(flow_argument_string(vm, call, 0, &text));
        description = flow_from_string(text);
    }
    return flow_native_return(call, flow_from_symbol(flow_symbol_new(vm, description)));
}

static FlowNativeResult symbol_for(FlowVm *vm, FlowNativeCall *call) {
    FlowString *key;
    TRY_NATIVE(flow_argument_string(vm, call, 0, &key));
    if (flow_is_undefined(vm->symbols)) vm->symbols = flow_from_object(flow_array_new(vm, 4));
    FlowArray *registry = flow_as_array(vm->symbols);
    FlowValue *known = flow_array_dense(registry);
    flow_native_charge(vm, (uint64_t)registry->length * 8);
    for (uint32_t i = 0; i < registry->length; i++) {
        FlowValue text = flow_as_symbol(known[i])->description;
        if (flow_string_equal(vm, flow_as_string(text), key)) {
            return flow_native_return(call, known[i]);
        }
    }
    FlowSymbol *symbol = flow_symbol_new(vm, flow_from_string(key));
    symbol->cell.aux |= SYMBOL_REGISTERED;
    flow_array_push(vm, registry, flow_from_symbol(symbol));
    return flow_native_return(call, flow_from_symbol(symbol));
}

static FlowNativeResult symbol_key_for(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    if (!flow_is_symbol(value)) {
        char text[FLOW_TEXT_MAX];
        return flow_native_throw(vm, ERROR_KIND_TYPE, "%s is not a symbol",
                                 flow_describe(vm, value, text));
    }
    const FlowSymbol *symbol = flow_as_symbol(value);
    if (!(symbol->cell.aux & SYMBOL_REGISTERED)) return flow_native_return(call, FLOW_UNDEFINED);
    return flow_native_return(call, symbol->description);
}

static FlowSymbol *this_symbol(FlowVm *vm, FlowNativeCall *call, const char *method) {
    FlowValue value = flow_this_primitive(call, flow_is_symbol, KIND_SYMBOL_OBJECT);
    if (!flow_is_hole(value)) return flow_as_symbol(value);
    flow_throw_type(vm, "Symbol.prototype%s requires that 'this' be a Symbol", method);
    return NULL;
}

static FlowNativeResult symbol_to_string(FlowVm *vm, FlowNativeCall *call) {
    FlowSymbol *symbol = this_symbol(vm, call, ".toString");
    if (!symbol) return NATIVE_THROW;
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    flow_builder_ascii(&builder, "Symbol(");
    if (flow_is_string(symbol->description)) {
        flow_builder_string(&builder, flow_as_string(symbol->description));
    }
    flow_builder_unit(&builder, ')');
    FlowString *text = flow_builder_finish(&builder);
    return text ? flow_native_return(call, flow_from_string(text)) : NATIVE_THROW;
}

static FlowNativeResult symbol_value_of(FlowVm *vm, FlowNativeCall *call) {
    bool is_to_primitive = flow_native_magic(call) == 1;
    FlowSymbol *symbol = this_symbol(vm, call, is_to_primitive ? " [ @@toPrimitive ]" : ".valueOf");
    if (!symbol) return NATIVE_THROW;
    return flow_native_return(call, flow_from_symbol(symbol));
}

static FlowNativeResult symbol_description(FlowVm *vm, FlowNativeCall *call) {
    FlowSymbol *symbol = this_symbol(vm, call, ".description");
    if (!symbol) return NATIVE_THROW;
    return flow_native_return(call, symbol->description);
}

// magic: FlowSymbolId.
static FlowNativeResult symbol_well_known(FlowVm *vm, FlowNativeCall *call) {
    uint16_t id = flow_native_magic(call);
    return flow_native_return(call, flow_from_symbol(vm->realm->symbols[id]));
}

#define WELL_KNOWN(name, id)                                                                       \
    { name, symbol_well_known, NULL, 0, NATIVE_VALUE | NATIVE_FROZEN, id }

static const FlowNativeEntry symbol_statics[] = {
    NATIVE("for", symbol_for, 1),
    NATIVE("keyFor", symbol_key_for, 1),
    WELL_KNOWN("asyncIterator", SYMBOL_ASYNC_ITERATOR),
    WELL_KNOWN("hasInstance", SYMBOL_HAS_INSTANCE),
    WELL_KNOWN("isConcatSpreadable", SYMBOL_IS_CONCAT_SPREADABLE),
    WELL_KNOWN("iterator", SYMBOL_ITERATOR),
    WELL_KNOWN("match", SYMBOL_MATCH),
    WELL_KNOWN("matchAll", SYMBOL_MATCH_ALL),
    WELL_KNOWN("replace", SYMBOL_REPLACE),
    WELL_KNOWN("search", SYMBOL_SEARCH),
    WELL_KNOWN("species", SYMBOL_SPECIES),
    WELL_KNOWN("split", SYMBOL_SPLIT),
    WELL_KNOWN("toPrimitive", SYMBOL_TO_PRIMITIVE),
    WELL_KNOWN("toStringTag", SYMBOL_TO_STRING_TAG),
    WELL_KNOWN("unscopables", SYMBOL_UNSCOPABLES),
    NATIVE_END,
};

static const FlowNativeEntry symbol_members[] = {
    NATIVE("toString", symbol_to_string, 0),
    NATIVE("valueOf", symbol_value_of, 0),
    GETTER("description", symbol_description),
    NATIVE_MAGIC("@@toPrimitive", symbol_value_of, 1, 1),
    NATIVE_END,
};

const FlowClassEntry flow_class_symbol = {
    .name = "Symbol",
    // new Symbol() is refused by the native itself, so that the message is right.
    .constructor = {"Symbol", symbol_constructor, NULL, 0, NATIVE_CONSTRUCTOR, 0},
    .statics = symbol_statics,
    .members = symbol_members,
    .tag = "Symbol",
    .kind = KIND_OBJECT,
    .proto_id = 1 + PROTO_SYMBOL,
};
