// Patterns through PCRE2, where they mean the same there.
//
// A tree is written out again as a PCRE2 pattern that uses only what both sides agree on: every
// class and the dot as explicit ranges, ^ and $ as lookarounds where lines count, letters under the
// flag i as sets. Latin-1 subjects use the 8-bit library, others the 16-bit one, both without UTF:
// a unit is a unit. The pattern text is ASCII, so one writer serves both.
//
//   [translate-1] What is_same_there() refuses stays with our own engine: loops whose body may be
//        empty, captures that an iteration may leave unset, lookbehind that is not of one length or
//        has captures, references under the flag i or before their group is closed, and the flag u
//        on wide subjects.
//   [translate-2] PCRE2 10.42 draws wrong conclusions about the first character of some patterns
//        that begin with a lookahead, so patterns with lookarounds go without that optimization.
//   [translate-3] A compiled pattern is never changed after it was made: threads may share it. Of
//        the memory a match needs, one piece is kept; exchanges of the pointer decide whose it is.
//   [translate-4] Memory is ours (base/memory.h); limits are set for each match.
//   [translate-5] PCRE2's own limit counts what may multiply, not characters: `a+b` on a row of n
//        times `a` is n steps to it and n * n / 2 comparisons to us. So callouts stand around
//        everything that may take many characters, and behind every CALLOUT_NODES others; each
//        counts one step and an eighth of one for each character between it and the callout before,
//        or the start of the attempt. What remains uncounted between two of them is bounded by the
//        pattern.
#define PCRE2_CODE_UNIT_WIDTH 0
#include "base/containers/buf.h"
#include "base/memory.h"
#include "flow/regexp/internal.h"
#include <pcre2.h>
#include <stdatomic.h>

enum {
    PATTERN_SIZE_MAX = 1 << 13,
    LOOK_BEHIND_MAX = 255,
    REPEAT_MAX = 65535,
    GROUP_REPEAT_MAX = 255, // PCRE2 writes the group out as often
    RANGES_MAX = 64,        // of a class on wide subjects: PCRE2 tries one after the other
    NOT_FIXED = -1,
    CALLOUT_NODES = 16, // [translate-5]
    MAKING_STEPS = 32,  // for each byte of PCRE2's code, above all to make machine code of it
};

// [translate-5] What the callouts of one match have counted.
typedef struct Counter {
    uint64_t steps; // left
    size_t last;    // where the callout before was
    size_t start;   // of the attempt that one belonged to
} Counter;

// What a match needs besides the code. Made once and kept for the next match.
typedef struct Scratch {
    pcre2_general_context_8 *memory_8; // those of one width
    pcre2_match_context_8 *context_8;
    pcre2_match_data_8 *data_8;
    pcre2_general_context_16 *memory_16;
    pcre2_match_context_16 *context_16;
    pcre2_match_data_16 *data_16;
    Counter counter;
} Scratch;

struct RegexpFast {
    pcre2_code_8 *narrow; // one of the two
    pcre2_code_16 *wide;
    uint32_t capture_count;
    bool is_sticky;
    _Atomic(Scratch *) spare; // whoever matches takes it; NULL: make another
};

// --- is it the same?

typedef struct Check {
    const RegexpTree *tree;
    bool has_loop_capture;
    bool has_look;
} Check;

// Every capture in the node is set whenever the node has matched.
static bool sets_all_captures(const RegexpNode *node) {
    if (node->first_capture == node->end_capture) return true;
    switch ((RegexpNodeKind)node->kind) {
    case REGEXP_NODE_SEQUENCE:
        for (const RegexpNode *child = node->child; child; child = child->next) {
            if (!sets_all_captures(child)) return false;
        }
        return true;
    case REGEXP_NODE_CAPTURE: return sets_all_captures(node->child);
    case REGEXP_NODE_REPEAT: return node->a > 0 && sets_all_captures(node->child);
    default: return false;
    }
}

// The number of units the node takes, when that is always the same.
static int32_t fixed_length(const RegexpNode *node) {
    int64_t total = 0;
    switch ((RegexpNodeKind)node->kind) {
    case REGEXP_NODE_CHARACTER:
    case REGEXP_NODE_SET: return 1;
    case REGEXP_NODE_SEQUENCE:
        for (const RegexpNode *child = node->child; child; child = child->next) {
            int32_t length = fixed_length(child);
            if (length == NOT_FIXED) return NOT_FIXED;
            total += length;
        }
        break;
    case REGEXP_NODE_CHOICE:
        total = fixed_length(node->child);
        for (const RegexpNode *child = node->child->next; child; child = child->next) {
            if (fixed_length(child) != total) return NOT_FIXED;
        }
        break;
    case REGEXP_NODE_REPEAT:
        if (node->a != node->b) return NOT_FIXED;
        total = fixed_length(node->child);
        if (total == NOT_FIXED) return NOT_FIXED;
        total *= node->a;
        break;
    case REGEXP_NODE_CAPTURE: return fixed_length(node->child);
    case REGEXP_NODE_REFERENCE: return NOT_FIXED;
    default: break;
    }
    return total <= LOOK_BEHIND_MAX ? (int32_t)total : NOT_FIXED;
}

static bool is_same_there(Check *check, const RegexpNode *node);

static bool are_children_same(Check *check, const RegexpNode *node) {
    for (const RegexpNode *child = node->child; child; child = child->next) {
        if (!is_same_there(check, child)) return false;
    }
    return true;
}

static bool is_repeat_same(Check *check, const RegexpNode *node) {
    const RegexpNode *child = node->child;
    if (node->a > REPEAT_MAX || (node->b > REPEAT_MAX && node->b != REGEXP_FOREVER)) return false;
    bool is_single = child->kind == REGEXP_NODE_CHARACTER || child->kind == REGEXP_NODE_SET;
    uint32_t copies = node->b == REGEXP_FOREVER ? node->a : node->b;
    if (!is_single && copies > GROUP_REPEAT_MAX) return false;
    if (regexp_node_can_be_empty(child)) return false;
    if (node->b > 1 && child->first_capture != child->end_capture) {
        check->has_loop_capture = true;
        if (!sets_all_captures(child)) return false;
    }
    return is_same_there(check, child);
}

static bool is_same_there(Check *check, const RegexpNode *node) {
    uint32_t flags = check->tree->flags;
    switch ((RegexpNodeKind)node->kind) {
    case REGEXP_NODE_REPEAT: return is_repeat_same(check, node);
    case REGEXP_NODE_CAPTURE: return is_same_there(check, node->child);
    case REGEXP_NODE_LOOK:
        check->has_look = true;
        if (node->is_behind &&
            (node->first_capture != node->end_capture || fixed_length(node->child) == NOT_FIXED)) {
            return false;
        }
        return is_same_there(check, node->child);
    case REGEXP_NODE_REFERENCE:
        return !(flags & REGEXP_IGNORE_CASE) && node->a < node->first_capture;
    case REGEXP_NODE_WORD_EDGE: return !(flags & REGEXP_UNICODE) || !(flags & REGEXP_IGNORE_CASE);
    case REGEXP_NODE_SEQUENCE:
    case REGEXP_NODE_CHOICE: return are_children_same(check, node);
    default: return true;
    }
}

// A reference inside its own group has a number below first_capture too: find those.
static bool has_inner_reference(const RegexpNode *node, uint32_t open_from) {
    if (node->kind == REGEXP_NODE_REFERENCE) return node->a >= open_from;
    if (node->kind == REGEXP_NODE_CAPTURE && node->a < open_from) open_from = node->a;
    for (const RegexpNode *child = node->child; child; child = child->next) {
        if (has_inner_reference(child, open_from)) return true;
    }
    return false;
}

static bool can_translate(const RegexpTree *tree, bool is_wide, bool *ret_has_look) {
    if (is_wide && tree->flags & REGEXP_UNICODE) return false;
    Check check = {.tree = tree};
    if (!is_same_there(&check, tree->root)) return false;
    *ret_has_look = check.has_look;
    if (!tree->has_reference) return true;
    return !check.has_loop_capture && !has_inner_reference(tree->root, UINT32_MAX);
}

// --- writing

typedef struct Writer {
    Buf text;
    uint32_t max; // the largest character of the subject: 255 or 65535
    uint32_t flags;
    uint32_t uncounted; // nodes since the last callout [translate-5]
    bool is_slow;       // there it would be slower than here
} Writer;

static void write_unit(Writer *w, uint32_t character) {
    bool is_plain = (character >= '0' && character <= '9') ||
                    (character >= 'A' && character <= 'Z') ||
                    (character >= 'a' && character <= 'z');
    if (is_plain) buf_append_char(&w->text, (char)character);
    else buf_printf(&w->text, "\\x{%x}", character);
}

static void write_range(Writer *w, uint32_t first, uint32_t last) {
    write_unit(w, first);
    if (last > first + 1) buf_append_char(&w->text, '-');
    if (last > first) write_unit(w, last);
}

// Whichever is shorter: the set, or what is not in it.
static void write_set(Writer *w, const RegexpSet *set) {
    RegexpRanges inside = {0};
    for (uint32_t i = 0; i < set->count && set->ranges[i].first <= w->max; i++) {
        RegexpRange range = set->ranges[i];
        regexp_ranges_add(&inside, range.first, range.last < w->max ? range.last : w->max);
    }
    RegexpRanges outside = {0};
    regexp_ranges_add_all(&outside, &inside);
    regexp_ranges_invert(&outside);
    while (outside.count && outside.data[outside.count - 1].first > w->max) outside.count--;
    if (outside.count && outside.data[outside.count - 1].last > w->max) {
        outside.data[outside.count - 1].last = w->max;
    }
    if (inside.count == 0) {
        buf_append_cstr(&w->text, "(?!)");
    } else if (outside.count == 0) {
        buf_append_cstr(&w->text, ".");
    } else {
        bool is_inverted = outside.count < inside.count;
        const RegexpRanges *shown = is_inverted ? &outside : &inside;
        if (w->max > 255 && shown->count > RANGES_MAX) w->is_slow = true;
        buf_append_cstr(&w->text, is_inverted ? "[^" : "[");
        for (size_t i = 0; i < shown->count; i++) {
            write_range(w, shown->data[i].first, shown->data[i].last);
        }
        buf_append_char(&w->text, ']');
    }
    vec_free(&inside);
    vec_free(&outside);
}

static void write_line_edge(Writer *w, bool is_start) {
    const char *ends = w->max > 255 ? "[\\n\\r\\x{2028}\\x{2029}]" : "[\\n\\r]";
    if (!(w->flags & REGEXP_MULTILINE)) buf_append_cstr(&w->text, is_start ? "\\A" : "\\z");
    else if (is_start) buf_printf(&w->text, "(?:\\A|(?<=%s))", ends);
    else buf_printf(&w->text, "(?=%s|\\z)", ends);
}

static void write_node(Writer *w, const RegexpNode *node);
static void write_plain(Writer *w, const RegexpNode *node);

static void write_callout(Writer *w) { // [translate-5]
    buf_append_cstr(&w->text, "(?C)");
    w->uncounted = 0;
}

static void count_node(Writer *w) {
    if (++w->uncounted >= CALLOUT_NODES) write_callout(w);
}

static void write_group(Writer *w, const char *open, const RegexpNode *node) {
    buf_append_cstr(&w->text, open);
    write_node(w, node);
    buf_append_char(&w->text, ')');
}

// A single character or class goes without a group: those loops need no stack.
static void write_repeat(Writer *w, const RegexpNode *node) {
    uint8_t kind = node->child->kind;
    if (kind == REGEXP_NODE_CHARACTER || kind == REGEXP_NODE_SET) write_plain(w, node->child);
    else write_group(w, "(?:", node->child);
    if (node->b == REGEXP_FOREVER) buf_printf(&w->text, "{%u,}", node->a);
    else buf_printf(&w->text, "{%u,%u}", node->a, node->b);
    if (!node->is_greedy) buf_append_char(&w->text, '?');
}

// The node with what counts it.
static void write_node(Writer *w, const RegexpNode *node) {
    bool is_long = node->kind == REGEXP_NODE_REFERENCE ||
                   (node->kind == REGEXP_NODE_REPEAT && node->b > CALLOUT_NODES);
    if (is_long && w->text.len > 0) write_callout(w); // an attempt counts from its start anyway
    write_plain(w, node);
    if (is_long) {
        write_callout(w);
        return;
    }
    switch ((RegexpNodeKind)node->kind) {
    case REGEXP_NODE_EMPTY:
    case REGEXP_NODE_SEQUENCE:
    case REGEXP_NODE_CHOICE: return; // their children are counted
    default: count_node(w);
    }
}

static void write_plain(Writer *w, const RegexpNode *node) {
    const RegexpNode *child = node->child;
    switch ((RegexpNodeKind)node->kind) {
    case REGEXP_NODE_EMPTY: return;
    case REGEXP_NODE_CHARACTER:
        if (node->a > w->max) buf_append_cstr(&w->text, "(?!)");
        else write_unit(w, node->a);
        return;
    case REGEXP_NODE_SET: write_set(w, node->set); return;
    case REGEXP_NODE_SEQUENCE:
        for (; child; child = child->next) write_node(w, child);
        return;
    case REGEXP_NODE_CHOICE:
        buf_append_cstr(&w->text, "(?:");
        for (; child; child = child->next) {
            count_node(w);
            write_node(w, child);
            if (child->next) buf_append_char(&w->text, '|');
        }
        buf_append_char(&w->text, ')');
        return;
    case REGEXP_NODE_CAPTURE: write_group(w, "(", child); return;
    case REGEXP_NODE_REPEAT: write_repeat(w, node); return;
    case REGEXP_NODE_LINE_START:
    case REGEXP_NODE_LINE_END: write_line_edge(w, node->kind == REGEXP_NODE_LINE_START); return;
    case REGEXP_NODE_WORD_EDGE: buf_append_cstr(&w->text, node->is_negated ? "\\B" : "\\b"); return;
    case REGEXP_NODE_LOOK:
        write_group(w,
                    node->is_behind ? (node->is_negated ? "(?<!" : "(?<=")
                                    : (node->is_negated ? "(?!" : "(?="),
                    child);
        return;
    case REGEXP_NODE_REFERENCE: buf_printf(&w->text, "\\g{%u}", node->a); return;
    }
    UNREACHABLE();
}

// --- compiling and matching

static void *pcre_alloc(size_t size, void *context) {
    (void)context;
    return mem_alloc(size);
}
static void pcre_release(void *block, void *context) {
    (void)context;
    mem_free(block);
}

static uint32_t compile_options(bool has_look) {
    uint32_t options = PCRE2_MATCH_UNSET_BACKREF | PCRE2_DOTALL | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP;
    return has_look ? options | PCRE2_NO_START_OPTIMIZE : options; // [translate-2]
}

static pcre2_code_8 *compile_narrow(const Buf *text, uint32_t options) {
    pcre2_general_context_8 *memory =
        pcre2_general_context_create_8(pcre_alloc, pcre_release, NULL);
    pcre2_compile_context_8 *context = pcre2_compile_context_create_8(memory);
    int error;
    size_t offset;
    pcre2_code_8 *code = pcre2_compile_8((PCRE2_SPTR8)buf_str(text).data, text->len, options,
                                         &error, &offset, context);
    if (code) pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE); // without JIT it works as well
    pcre2_compile_context_free_8(context);
    pcre2_general_context_free_8(memory);
    return code;
}

static pcre2_code_16 *compile_wide(const Buf *text, uint32_t options) {
    pcre2_general_context_16 *memory =
        pcre2_general_context_create_16(pcre_alloc, pcre_release, NULL);
    pcre2_compile_context_16 *context = pcre2_compile_context_create_16(memory);
    uint16_t *units = mem_alloc(sizeof(uint16_t) * (text->len + 1));
    for (size_t i = 0; i < text->len; i++) units[i] = (unsigned char)text->data[i];
    int error;
    size_t offset;
    pcre2_code_16 *code = pcre2_compile_16(units, text->len, options, &error, &offset, context);
    if (code) pcre2_jit_compile_16(code, PCRE2_JIT_COMPLETE);
    mem_free(units);
    pcre2_compile_context_free_16(context);
    pcre2_general_context_free_16(memory);
    return code;
}

RegexpFast *regexp_fast_new(const RegexpTree *tree, bool is_wide) {
    bool has_look;
    if (!can_translate(tree, is_wide, &has_look)) return NULL;
    Writer writer = {.max = is_wide ? 0xFFFF : 0xFF, .flags = tree->flags};
    buf_init(&writer.text, PATTERN_SIZE_MAX);
    write_node(&writer, tree->root);
    RegexpFast *fast = mem_zalloc(sizeof *fast);
    fast->capture_count = tree->capture_count;
    fast->is_sticky = tree->flags & REGEXP_STICKY;
    if (!writer.text.is_overflown && !writer.is_slow) {
        if (is_wide) fast->wide = compile_wide(&writer.text, compile_options(has_look));
        else fast->narrow = compile_narrow(&writer.text, compile_options(has_look));
    }
    buf_done(&writer.text);
    if (fast->wide || fast->narrow) return fast;
    mem_free(fast); // too large for PCRE2
    return NULL;
}

uint64_t regexp_fast_work(const RegexpFast *fast) {
    size_t size = 0;
    if (fast->narrow) pcre2_pattern_info_8(fast->narrow, PCRE2_INFO_SIZE, &size);
    else pcre2_pattern_info_16(fast->wide, PCRE2_INFO_SIZE, &size);
    return (uint64_t)size * MAKING_STEPS;
}

static int count_steps(Counter *counter, size_t start, size_t at) {
    if (start != counter->start) counter->start = counter->last = start;
    size_t moved = at > counter->last ? at - counter->last : counter->last - at;
    uint64_t cost = 1 + moved / 8;
    counter->last = at;
    if (counter->steps <= cost) {
        counter->steps = 0;
        return PCRE2_ERROR_CALLOUT;
    }
    counter->steps -= cost;
    return 0;
}

static int callout_narrow(pcre2_callout_block_8 *block, void *counter) {
    return count_steps(counter, block->start_match, block->current_position);
}

static int callout_wide(pcre2_callout_block_16 *block, void *counter) {
    return count_steps(counter, block->start_match, block->current_position);
}

static Scratch *scratch_take(RegexpFast *fast) {
    Scratch *scratch = atomic_exchange(&fast->spare, NULL);
    if (scratch) return scratch;
    scratch = mem_zalloc(sizeof *scratch);
    if (fast->narrow) {
        scratch->memory_8 = pcre2_general_context_create_8(pcre_alloc, pcre_release, NULL);
        scratch->context_8 = pcre2_match_context_create_8(scratch->memory_8);
        scratch->data_8 = pcre2_match_data_create_from_pattern_8(fast->narrow, scratch->memory_8);
    } else {
        scratch->memory_16 = pcre2_general_context_create_16(pcre_alloc, pcre_release, NULL);
        scratch->context_16 = pcre2_match_context_create_16(scratch->memory_16);
        scratch->data_16 = pcre2_match_data_create_from_pattern_16(fast->wide, scratch->memory_16);
    }
    return scratch;
}

static void scratch_free(Scratch *scratch) {
    if (!scratch) return;
    pcre2_match_data_free_8(scratch->data_8);
    pcre2_match_context_free_8(scratch->context_8);
    pcre2_general_context_free_8(scratch->memory_8);
    pcre2_match_data_free_16(scratch->data_16);
    pcre2_match_context_free_16(scratch->context_16);
    pcre2_general_context_free_16(scratch->memory_16);
    mem_free(scratch);
}

static void scratch_put_back(RegexpFast *fast, Scratch *scratch) {
    scratch_free(atomic_exchange(&fast->spare, scratch));
}

void regexp_fast_free(RegexpFast *fast) {
    if (!fast) return;
    scratch_free(atomic_load(&fast->spare));
    pcre2_code_free_8(fast->narrow);
    pcre2_code_free_16(fast->wide);
    mem_free(fast);
}

static RegexpOutcome outcome_of(int code) {
    if (code > 0) return REGEXP_MATCH;
    if (code == PCRE2_ERROR_NOMATCH) return REGEXP_NO_MATCH;
    if (code == PCRE2_ERROR_MATCHLIMIT || code == PCRE2_ERROR_DEPTHLIMIT ||
        code == PCRE2_ERROR_CALLOUT) {
        return REGEXP_OUT_OF_STEPS;
    }
    if (code == PCRE2_ERROR_HEAPLIMIT) return REGEXP_OUT_OF_MEMORY;
    return REGEXP_UNUSABLE; // the JIT's stack, above all
}

static void copy_captures(const RegexpFast *fast, int code, const size_t *offsets,
                          int32_t *ret_captures) {
    for (uint32_t i = 0; i <= fast->capture_count; i++) {
        bool is_set = (int)i < code && offsets[2 * i] != PCRE2_UNSET;
        ret_captures[2 * i] = is_set ? (int32_t)offsets[2 * i] : -1;
        ret_captures[2 * i + 1] = is_set ? (int32_t)offsets[2 * i + 1] : -1;
    }
}

static uint32_t limit_of(uint64_t steps) {
    return steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX;
}

static int match_narrow(const RegexpFast *fast, const RegexpSubject *subject, uint32_t start,
                        const RegexpBudget *budget, Scratch *scratch) {
    Counter *counter = &scratch->counter;
    pcre2_set_match_limit_8(scratch->context_8, limit_of(budget->steps));
    pcre2_set_heap_limit_8(scratch->context_8, (uint32_t)(budget->memory_size >> 10));
    pcre2_set_callout_8(scratch->context_8, callout_narrow, counter);
    return pcre2_match_8(fast->narrow, subject->latin1, subject->length, start,
                         fast->is_sticky ? PCRE2_ANCHORED : 0, scratch->data_8, scratch->context_8);
}

static int match_wide(const RegexpFast *fast, const RegexpSubject *subject, uint32_t start,
                      const RegexpBudget *budget, Scratch *scratch) {
    Counter *counter = &scratch->counter;
    pcre2_set_match_limit_16(scratch->context_16, limit_of(budget->steps));
    pcre2_set_heap_limit_16(scratch->context_16, (uint32_t)(budget->memory_size >> 10));
    pcre2_set_callout_16(scratch->context_16, callout_wide, counter);
    return pcre2_match_16(fast->wide, subject->wide, subject->length, start,
                          fast->is_sticky ? PCRE2_ANCHORED : 0, scratch->data_16,
                          scratch->context_16);
}

RegexpOutcome regexp_fast_match(RegexpFast *fast, const RegexpSubject *subject, uint32_t start,
                                RegexpBudget *budget, int32_t *ret_captures) {
    ASSERT(fast->narrow ? subject->latin1 != NULL : subject->wide != NULL);
    Scratch *scratch = scratch_take(fast);
    scratch->counter = (Counter){.steps = budget->steps, .last = start, .start = start};
    int code = fast->narrow ? match_narrow(fast, subject, start, budget, scratch)
                            : match_wide(fast, subject, start, budget, scratch);
    budget->steps = scratch->counter.steps;
    uint32_t end = subject->length;
    if (code > 0) {
        copy_captures(fast, code,
                      fast->narrow ? pcre2_get_ovector_pointer_8(scratch->data_8)
                                   : pcre2_get_ovector_pointer_16(scratch->data_16),
                      ret_captures);
        end = (uint32_t)ret_captures[1];
    }
    // What lies before the match was looked at as well, and all of it when there is none.
    if (!fast->is_sticky || code > 0) regexp_pay(budget, end > start ? (end - start) / 8 : 0);
    scratch_put_back(fast, scratch);
    return outcome_of(code);
}
