// Symbols: the names that a text declares, found by their tokens.
//
//   [lsp-symbol-1] A name is looked for from the innermost block around its use outward; of several
//        in one block the nearest one before the use is meant.
#pragma once
#include "cli/lsp/scan.h"

typedef enum SymbolKind {
    SYMBOL_WORKFLOW,
    SYMBOL_FUNCTION,
    SYMBOL_CLASS,
    SYMBOL_VARIABLE,
    SYMBOL_PARAMETER
} SymbolKind;

typedef struct Symbol {
    SymbolKind kind;
    uint32_t keyword; // the token that declares it: `const`, `function` …
    uint32_t name;    // token
    uint32_t block;   // the bracket in which it is known; SCAN_NONE: everywhere
    uint32_t last;    // the last token of the declaration
} Symbol;

typedef struct Symbols {
    Symbol *items; // in the order of the text
    size_t count;
} Symbols;

void symbols_find(Symbols *symbols, const Scan *scan, Arena *arena);
// What the word means; NULL: the text does not declare it. [lsp-symbol-1]
const Symbol *symbol_meant(const Symbols *symbols, const Scan *scan, uint32_t word);
// No symbol before it has the same name.
bool symbol_is_first(const Symbols *symbols, const Scan *scan, size_t index);
const char *symbol_keyword(const Symbol *symbol); // "workflow", "function", …
