// Symbols: the declarations of a text, by the words that begin them; see symbol.h.
//
// The scopes of ECMAScript are finer than brackets; for jumping to a name brackets are enough.
// Declarations are `workflow`, `function`, `class`, `const`, `let`, `var`, the parameters of
// functions with a name, and of `catch`. In a pattern every word counts that is no key.
#include "cli/lsp/symbol.h"
#include "base/containers/vec.h"

enum { SYMBOLS_MAX = 20000 };

typedef struct Finder {
    const Scan *scan;
    VEC(Symbol) found;
} Finder;

static void add(Finder *f, Symbol symbol) {
    if (f->found.count < SYMBOLS_MAX && scan_is_word(f->scan, symbol.name))
        vec_push(&f->found, symbol);
}

static uint32_t end_of_bracket(const Scan *scan, uint32_t bracket) {
    uint32_t close = scan->tokens[bracket].close;
    return close == SCAN_NONE ? scan->count - 1 : close;
}

// Words of a pattern between two tokens that are bound, not keys and not defaults.
static void add_pattern(Finder *f, Symbol symbol, uint32_t first, uint32_t end) {
    const Scan *scan = f->scan;
    bool is_default = false;
    uint32_t default_open = SCAN_NONE;
    for (uint32_t i = first; i < end && i < scan->count; i++) {
        if (scan_is(scan, i, "=")) {
            is_default = true;
            default_open = scan->tokens[i].open;
        } else if (is_default && scan_is(scan, i, ",") && scan->tokens[i].open == default_open) {
            is_default = false;
        } else if (is_default && (scan_is(scan, i, "}") || scan_is(scan, i, "]")) &&
                   scan->tokens[i].open != default_open && default_open != SCAN_NONE &&
                   end_of_bracket(scan, default_open) == i) {
            is_default = false;
        }
        if (is_default || !scan_is_word(scan, i) || scan_is(scan, i + 1, ":")) continue;
        symbol.name = i;
        add(f, symbol);
    }
}

static void add_parameters(Finder *f, uint32_t keyword, uint32_t parenthesis) {
    const Scan *scan = f->scan;
    if (!scan_is(scan, parenthesis, "(")) return;
    uint32_t close = scan->tokens[parenthesis].close;
    if (close == SCAN_NONE) return;
    Symbol symbol = {.kind = SYMBOL_PARAMETER, .keyword = keyword, .last = close};
    symbol.block = scan_is(scan, close + 1, "{") ? close + 1 : scan->tokens[keyword].open;
    add_pattern(f, symbol, parenthesis + 1, close);
}

static void add_function(Finder *f, uint32_t keyword, SymbolKind kind) {
    const Scan *scan = f->scan;
    uint32_t name = keyword + 1;
    if (scan_is(scan, name, "*")) name++;
    uint32_t parenthesis = scan_is_word(scan, name) ? name + 1 : name;
    uint32_t body = parenthesis;
    if (scan_is(scan, parenthesis, "(") && scan->tokens[parenthesis].close != SCAN_NONE)
        body = scan->tokens[parenthesis].close + 1;
    Symbol symbol = {.kind = kind, .keyword = keyword, .name = name};
    symbol.block = scan->tokens[keyword].open;
    symbol.last = scan_is(scan, body, "{") ? end_of_bracket(scan, body) : name;
    add(f, symbol);
    add_parameters(f, keyword, parenthesis);
}

static void add_class(Finder *f, uint32_t keyword) {
    const Scan *scan = f->scan;
    Symbol symbol = {.kind = SYMBOL_CLASS, .keyword = keyword, .name = keyword + 1};
    symbol.block = scan->tokens[keyword].open;
    symbol.last = keyword + 1;
    for (uint32_t i = keyword + 2; i < scan->count && i < keyword + 8; i++) {
        if (!scan_is(scan, i, "{")) continue;
        symbol.last = end_of_bracket(scan, i);
        break;
    }
    add(f, symbol);
}

// const a = 1, { b, c: d } = x;
static void add_variables(Finder *f, uint32_t keyword) {
    const Scan *scan = f->scan;
    uint32_t open = scan->tokens[keyword].open, at = keyword + 1;
    while (at < scan->count) {
        uint32_t end = at + 1; // of the binding: a word, or a pattern in brackets
        if (scan_is(scan, at, "{") || scan_is(scan, at, "[")) end = end_of_bracket(scan, at) + 1;
        else if (!scan_is_word(scan, at)) return;
        Symbol symbol = {.kind = SYMBOL_VARIABLE, .keyword = keyword, .block = open};
        symbol.last = end - 1;
        add_pattern(f, symbol, at, end);
        while (end < scan->count) { // to the comma of the list
            bool is_outer = scan->tokens[end].open == open;
            if (is_outer && (scan_is(scan, end, ",") || scan_is(scan, end, ";"))) break;
            if (scan_is(scan, end, "const") || scan_is(scan, end, "let")) return;
            if ((is_outer && scan_is(scan, end, "of")) ||
                (open != SCAN_NONE && end == scan->tokens[open].close))
                return;
            end++;
        }
        if (!scan_is(scan, end, ",")) return;
        at = end + 1;
    }
}

void symbols_find(Symbols *symbols, const Scan *scan, Arena *arena) {
    Finder f = {.scan = scan};
    for (uint32_t i = 0; i + 1 < scan->count; i++) {
        bool is_member = i > 0 && (scan_is(scan, i - 1, ".") || scan_is(scan, i - 1, "?."));
        if (is_member || !scan_is_word(scan, i) || scan_is(scan, i + 1, ":")) continue;
        if (scan_is(scan, i, "function")) add_function(&f, i, SYMBOL_FUNCTION);
        else if (scan_is(scan, i, "workflow") && scan_is_word(scan, i + 1))
            add_function(&f, i, SYMBOL_WORKFLOW);
        else if (scan_is(scan, i, "class")) add_class(&f, i);
        else if (scan_is(scan, i, "catch")) add_parameters(&f, i, i + 1);
        else if (scan_is(scan, i, "const") || scan_is(scan, i, "let") || scan_is(scan, i, "var"))
            add_variables(&f, i);
    }
    *symbols = (Symbols){.count = f.found.count};
    symbols->items = ARENA_ARRAY(arena, Symbol, f.found.count + 1);
    if (f.found.count > 0) memcpy(symbols->items, f.found.data, f.found.count * sizeof(Symbol));
    vec_free(&f.found);
}

const Symbol *symbol_meant(const Symbols *symbols, const Scan *scan, uint32_t word) {
    Str name = scan_str(scan, word);
    uint32_t block = scan->tokens[word].open;
    for (;;) { // [lsp-symbol-1]
        const Symbol *best = NULL;
        for (size_t i = 0; i < symbols->count; i++) {
            const Symbol *symbol = &symbols->items[i];
            if (symbol->block != block || !str_equal(name, scan_str(scan, symbol->name))) continue;
            if (!best || symbol->name <= word) best = symbol;
        }
        if (best || block == SCAN_NONE) return best;
        block = scan->tokens[block].open;
    }
}

bool symbol_is_first(const Symbols *symbols, const Scan *scan, size_t index) {
    Str name = scan_str(scan, symbols->items[index].name);
    for (size_t i = index < 500 ? 0 : index - 500; i < index; i++)
        if (str_equal(name, scan_str(scan, symbols->items[i].name))) return false;
    return true;
}

const char *symbol_keyword(const Symbol *symbol) {
    switch (symbol->kind) {
    case SYMBOL_WORKFLOW: return "workflow";
    case SYMBOL_FUNCTION: return "function";
    case SYMBOL_CLASS: return "class";
    case SYMBOL_VARIABLE: return "variable";
    case SYMBOL_PARAMETER: return "parameter";
    }
    UNREACHABLE();
}
