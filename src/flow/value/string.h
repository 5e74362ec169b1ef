// Strings and symbols.
//
// A string is a sequence of UTF-16 units, stored as Latin-1 bytes when all units are below 256.
// Concatenation makes a rope; whoever needs the units flattens it (iteratively, in place).
//
// Atoms are interned strings: property keys compare by pointer. Three tables answer in this
// order, and a string is in exactly one of them: the realm's (built-in names, one-character
// strings), the module's (constants), the VM's own.
//
//   [value-string-1] A flat string never changes but for its cached hash and its ATOM flag, which
//        only a VM's own strings gain; shared strings have both from the start.
//   [value-string-2] A rope that was flattened keeps its cell: `left` is the flat string, `right`
//        NULL.
//   [value-string-3] WIDE storage is used only when some unit is above 255, so equal strings have
//        equal storage width.
#pragma once
#include "base/containers/buf.h"
#include "base/text/str.h"
#include "flow/value/heap.h"

enum { // FlowCell.flags of a string
    STRING_WIDE = 1 << 2,
    STRING_ROPE = 1 << 3,
    STRING_ATOM = 1 << 4,
    STRING_HASHED = 1 << 5,
    STRING_IS_INDEX = 1 << 6, // an atom that is a canonical array index: never used as a key
};

enum { STRING_BYTES_PER_FUEL = 64 }; // copied or compared in the time of an instruction

struct FlowString {
    FlowCell cell;  // aux = length in units
    uint32_t hash;  // valid with STRING_HASHED
    uint32_t depth; // of a rope, so that the builder of deep left chains stays cheap
    union {
        struct {
            FlowString *left;
            FlowString *right;
        };
        uint8_t latin1[1]; // in fact `length` units; one, which compilers take as "any number"
        uint16_t wide[1];
    };
};

struct FlowSymbol {
    FlowCell cell;         // aux: SYMBOL_*
    FlowValue description; // string or undefined; "#x" for private names
    uint32_t hash;
    uint32_t well_known; // 1 + index in the realm's list of well-known symbols, 0 = none
};
enum { SYMBOL_PRIVATE = 1, SYMBOL_REGISTERED = 2, SYMBOL_METHOD = 4 }; // by Symbol.for; #m() {}

typedef struct FlowAtoms { // a hash set of flat strings
    FlowString **slots;
    uint32_t count;
    uint32_t capacity; // power of two or 0
} FlowAtoms;

static inline uint32_t flow_string_length(const FlowString *s) { return s->cell.aux; }
static inline bool flow_string_is_wide(const FlowString *s) { return s->cell.flags & STRING_WIDE; }
static inline bool flow_string_is_atom(const FlowString *s) { return s->cell.flags & STRING_ATOM; }

// --- making. All live in the VM's heap unless they are found as shared atoms.
FlowString *flow_string_utf8(FlowVm *vm, Str text); // WTF-8 in; invalid bytes become U+FFFD
FlowString *flow_string_cstr(FlowVm *vm, const char *ascii);
FlowString *flow_string_latin1(FlowVm *vm, const uint8_t *units, size_t count);
FlowString *flow_string_utf16(FlowVm *vm, const uint16_t *units, size_t count); // narrows if it can
FlowString *flow_string_unit(FlowVm *vm, uint16_t unit);                        // shared below 256
FlowString *flow_string_empty(FlowVm *vm);
// Uninitialised flat strings for the caller to fill; wide ones must keep [value-string-3].
FlowString *flow_string_alloc(FlowVm *vm, size_t length, bool is_wide);
FlowString *flow_string_substring(FlowVm *vm, FlowString *s, uint32_t start, uint32_t end);
// a + b. NULL when the result would be longer than the limit (throw "Invalid string length").
FlowString *flow_string_concat(FlowVm *vm, FlowString *a, FlowString *b);
// A number (FLOW_NUMBER_TEXT_MAX bytes are enough) written out, and joined to `text` on its left
// or right without a string of its own in between. NULL: too long.
enum { FLOW_NUMBER_TEXT_MAX = 32 };
size_t flow_number_text(FlowValue number, char ret_text[FLOW_NUMBER_TEXT_MAX]);
FlowString *flow_string_number(FlowVm *vm, double value);
FlowString *flow_string_concat_number(FlowVm *vm, FlowString *text, FlowValue number,
                                      bool is_number_first);

// --- reading
// The flat string with the same units (s itself unless it is a rope).
FlowString *flow_string_flatten(FlowVm *vm, FlowString *s);
static inline FlowString *flow_string_flat(FlowVm *vm, FlowString *s) {
    return s->cell.flags & STRING_ROPE ? flow_string_flatten(vm, s) : s;
}
static inline uint16_t flow_string_at(const FlowString *flat, uint32_t i) {
    return flow_string_is_wide(flat) ? flat->wide[i] : flat->latin1[i];
}
uint32_t flow_string_hash(FlowString *flat);
bool flow_string_equal(FlowVm *vm, FlowString *a, FlowString *b);
int flow_string_compare(FlowVm *vm, FlowString *a, FlowString *b); // by units: -1, 0, 1
bool flow_string_equals_ascii(FlowVm *vm, FlowString *s, const char *ascii);
// A canonical array index 0 .. 2^32-2.
bool flow_string_to_index(const FlowString *flat, uint32_t *ret_index);
// First position >= from, or -1. Both flat.
int64_t flow_string_find(const FlowString *flat, const FlowString *needle, uint32_t from);
// Last position <= from, or -1. Both flat.
int64_t flow_string_find_last(const FlowString *flat, const FlowString *needle, uint32_t from);
void flow_string_to_utf8(FlowVm *vm, FlowString *s, Buf *out); // WTF-8: lone surrogates kept
double flow_string_to_number(FlowVm *vm, FlowString *s);       // ToNumber of a string
size_t flow_wtf8_to_utf16(Str text, uint16_t *ret_units);      // room for text.len units
bool flow_is_space(uint16_t unit);                             // WhiteSpace or LineTerminator

// --- a builder for natives: units go in one by one, narrow until one does not fit.
typedef struct FlowStringBuilder {
    FlowVm *vm;
    union {
        uint8_t *latin1;
        uint16_t *wide;
        void *data;
    };
    size_t length;
    size_t capacity; // units
    bool is_wide;
    bool is_too_long;   // beyond the limit; what came later was dropped
    uint8_t first[128]; // where `data` points until that is full: a builder must not move
} FlowStringBuilder;
void flow_builder_init(FlowStringBuilder *builder, FlowVm *vm);
void flow_builder_done(FlowStringBuilder *builder);                       // when not finished
void flow_builder_unit_slowly(FlowStringBuilder *builder, uint16_t unit); // what the next falls to
static inline void flow_builder_unit(FlowStringBuilder *builder, uint16_t unit) {
    if (unit < 256 && !builder->is_wide && builder->length < builder->capacity) {
        builder->latin1[builder->length++] = (uint8_t)unit;
    } else {
        flow_builder_unit_slowly(builder, unit);
    }
}
void flow_builder_code_point(FlowStringBuilder *builder, uint32_t code_point);
void flow_builder_ascii(FlowStringBuilder *builder, const char *text);
void flow_builder_string(FlowStringBuilder *builder, FlowString *s);
void flow_builder_range(FlowStringBuilder *builder, FlowString *flat, uint32_t start, uint32_t end);
// The string, and the builder is done. NULL with an exception pending when it is too long.
FlowString *flow_builder_finish(FlowStringBuilder *builder);

// --- atoms
FlowString *flow_atom(FlowVm *vm, FlowString *s); // the interned string of the same units
FlowString *flow_atom_cstr(FlowVm *vm, const char *ascii);
FlowString *flow_atoms_find(const FlowAtoms *atoms, const FlowString *flat, uint32_t hash);
void flow_atoms_add(FlowAtoms *atoms, FlowString *flat);
void flow_atoms_done(FlowAtoms *atoms);
void flow_atoms_sweep(FlowAtoms *atoms); // drops atoms that were not marked

// --- symbols
FlowSymbol *flow_symbol_new(FlowVm *vm, FlowValue description);
FlowSymbol *flow_symbol_private(FlowVm *vm, FlowValue text);
