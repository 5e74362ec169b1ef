// Our regular expression engine: runs a program over a string, backtracking on a stack of its own.
//
// The stack holds what to do when the current way fails: other ways to go on (choices), old values
// of captures and registers to put back (undos), and markers of lookarounds. Failing means taking
// entries off the top until a choice is found.
//
//   [match-1] Every change of a capture or register pushes its undo first, so whatever a choice
//        finds when it is taken is what was there when it was pushed.
//   [match-2] A lookaround that has matched drops the choices inside it and keeps the undos.
//   [match-3] Each instruction is a step. A character that is looked at outside of one (in a run, a
//        reference, on the way to the next start, in the search for the required one) and a capture
//        that is cleared are an eighth of one; a letter beyond ASCII that is folded is FOLD_STEPS.
#include "base/memory.h"
#include "flow/regexp/internal.h"
#include "flow/regexp/program.h"
#include <string.h>

typedef enum EntryKind {
    ENTRY_CHOICE,   // go on at pc, position
    ENTRY_RUN,      // greedy run: one character less, as long as position > low; go on at pc
    ENTRY_LAZY,     // lazy run: one character more; `low` is how many are still allowed
    ENTRY_CAPTURE,  // captures[pc] = position
    ENTRY_REGISTER, // registers[pc] = position
    ENTRY_LOOK,     // positive lookaround: fails
    ENTRY_NOT,      // negative lookaround: holds; go on at pc, position
} EntryKind;

typedef struct Entry {
    uint32_t kind; // EntryKind
    uint32_t pc;
    int32_t position;
    int32_t low;
} Entry;

typedef struct Matcher {
    const RegexpProgram *program;
    RegexpSubject subject;
    int32_t length;
    bool is_unicode;
    int32_t *captures; // pairs
    int32_t *registers;
    Entry *stack;
    size_t stack_count;
    size_t stack_capacity;
    size_t stack_max;
    uint64_t steps; // left
    bool is_out_of_memory;
} Matcher;

static inline uint32_t unit_at(const Matcher *m, int32_t at) {
    return m->subject.latin1 ? m->subject.latin1[at] : m->subject.wide[at];
}
static bool is_high(uint32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
static bool is_low(uint32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

// The character at *at, which moves past it. There is one.
static inline uint32_t next_character(const Matcher *m, int32_t *at) {
    uint32_t unit = unit_at(m, (*at)++);
    if (m->is_unicode && is_high(unit) && *at < m->length && is_low(unit_at(m, *at))) {
        unit = 0x10000 + ((unit - 0xD800) << 10) + (unit_at(m, (*at)++) - 0xDC00);
    }
    return unit;
}

static inline uint32_t previous_character(const Matcher *m, int32_t *at) {
    uint32_t unit = unit_at(m, --*at);
    if (m->is_unicode && is_low(unit) && *at > 0 && is_high(unit_at(m, *at - 1))) {
        --*at;
        unit = 0x10000 + ((unit_at(m, *at) - 0xD800) << 10) + (unit - 0xDC00);
    }
    return unit;
}

static inline bool set_has(const RegexpSet *set, uint32_t character) {
    if (character < 256) return set->bitmap[character / 32] >> character % 32 & 1;
    return regexp_set_has(set, character);
}

static void push(Matcher *m, Entry entry) {
    if (m->stack_count >= m->stack_max) {
        m->is_out_of_memory = true;
        return;
    }
    if (m->stack_count == m->stack_capacity) {
        vec_grow(&m->stack, &m->stack_capacity, m->stack_count + 1, sizeof(Entry));
    }
    m->stack[m->stack_count++] = entry;
}

static inline void push_choice(Matcher *m, uint32_t pc, int32_t position) {
    push(m, (Entry){ENTRY_CHOICE, pc, position, 0});
}

static inline void set_register(Matcher *m, uint32_t index, int32_t value) {
    push(m, (Entry){ENTRY_REGISTER, index, m->registers[index], 0});
    m->registers[index] = value;
}

static inline void set_capture(Matcher *m, uint32_t index, int32_t value) {
    if (m->captures[index] == value) return;
    push(m, (Entry){ENTRY_CAPTURE, index, m->captures[index], 0});
    m->captures[index] = value;
}

static void undo(Matcher *m, const Entry *entry) {
    if (entry->kind == ENTRY_CAPTURE) m->captures[entry->pc] = entry->position;
    else if (entry->kind == ENTRY_REGISTER) m->registers[entry->pc] = entry->position;
}

enum { FOLD_STEPS = 256 };

static inline void pay_steps(Matcher *m, uint64_t cost) {
    m->steps = m->steps > cost ? m->steps - cost : 0;
}

static inline void pay(Matcher *m, int32_t units) {
    pay_steps(m, (uint64_t)units / 8);
} // [match-3]

// --- assertions

static bool is_line_end(uint32_t unit) {
    return unit == '\n' || unit == '\r' || unit == 0x2028 || unit == 0x2029;
}

static bool is_word_at(const Matcher *m, int32_t at) {
    if (at < 0 || at >= m->length) return false;
    uint32_t unit = unit_at(m, at);
    if (unit < 128) {
        uint32_t lower = unit | 0x20;
        return (lower >= 'a' && lower <= 'z') || (unit >= '0' && unit <= '9') || unit == '_';
    }
    bool is_folding = m->is_unicode && m->program->flags & REGEXP_IGNORE_CASE;
    return is_folding && (unit == 0x17F || unit == 0x212A);
}

static bool is_line_start(const Matcher *m, int32_t at) {
    if (at == 0) return true;
    return m->program->flags & REGEXP_MULTILINE && is_line_end(unit_at(m, at - 1));
}

static bool is_line_finish(const Matcher *m, int32_t at) {
    if (at == m->length) return true;
    return m->program->flags & REGEXP_MULTILINE && is_line_end(unit_at(m, at));
}

// --- references

// Moves *at over the text of a capture; false when it is not there.
static bool match_reference(Matcher *m, uint32_t number, bool is_backward, int32_t *at) {
    int32_t start = m->captures[2 * number];
    int32_t end = m->captures[2 * number + 1];
    if (start < 0 || end < 0) return true; // undefined matches the empty string
    int32_t count = end - start;
    int32_t from = is_backward ? *at - count : *at;
    if (from < 0 || count > m->length - from) return false;
    pay(m, count);
    bool is_folding = m->program->flags & REGEXP_IGNORE_CASE;
    for (int32_t i = 0; i < count && !is_folding; i++) {
        if (unit_at(m, start + i) != unit_at(m, from + i)) return false;
    }
    // Characters that are equal but for case take the same number of units.
    for (int32_t i = start, j = from; is_folding && i < end;) {
        uint32_t a = next_character(m, &i);
        uint32_t b = next_character(m, &j);
        if (a == b) continue;
        if (a > 127 || b > 127) pay_steps(m, FOLD_STEPS);
        if (regexp_canonicalize(a, m->is_unicode) != regexp_canonicalize(b, m->is_unicode)) {
            return false;
        }
    }
    *at = is_backward ? from : from + count;
    return true;
}

// --- runs of single characters

// Takes up to `max` characters of the set; answers how many, *at moves.
static uint32_t take_run(Matcher *m, const RegexpSet *set, uint32_t max, int32_t *at) {
    uint32_t count = 0;
    int32_t start = *at;
    while (count < max && *at < m->length) {
        int32_t next = *at;
        if (!set_has(set, next_character(m, &next))) break;
        *at = next;
        count++;
    }
    pay(m, *at - start);
    return count;
}

// code: operation, set, min, max. False: the minimum is not there.
static bool start_run(Matcher *m, uint32_t pc, int32_t *at) {
    const uint32_t *code = m->program->code + pc;
    const RegexpSet *set = m->program->sets[code[1]];
    bool is_lazy = code[0] == REGEXP_OP_RUN_LAZY;
    uint32_t min = code[2];
    uint32_t max = code[3];
    if (take_run(m, set, min, at) < min) return false;
    if (is_lazy) {
        uint32_t more = max == REGEXP_FOREVER ? INT32_MAX : max - min;
        if (more) push(m, (Entry){ENTRY_LAZY, pc, *at, (int32_t)more});
        return true;
    }
    int32_t low = *at;
    take_run(m, set, max == REGEXP_FOREVER ? UINT32_MAX : max - min, at);
    if (*at > low) push(m, (Entry){ENTRY_RUN, pc + 4, *at, low});
    return true;
}

// --- failing

// Whether the instruction at pc could go on at `at`, as far as a look at one character tells. It
// saves most of what a run gives back or takes on: nearly always something definite follows it.
static inline bool can_go_on(const Matcher *m, uint32_t pc, int32_t at) {
    const uint32_t *code = m->program->code + pc;
    if (code[0] == REGEXP_OP_CHARACTER || code[0] == REGEXP_OP_SET) {
        if (at >= m->length) return false;
        uint32_t unit = unit_at(m, at);
        if (code[0] == REGEXP_OP_SET) return unit > 255 || set_has(m->program->sets[code[1]], unit);
        return code[1] > 0xFFFF ? is_high(unit) : unit == code[1];
    }
    return true;
}

// Gives back characters of a greedy run until what follows could match. False: all are given back.
static bool shorten_run(Matcher *m, Entry *entry, uint32_t *ret_pc, int32_t *ret_at) {
    int32_t at = entry->position;
    int32_t start = at;
    bool is_fine = false;
    while (at > entry->low && !is_fine) {
        previous_character(m, &at);
        if (at < entry->low) at = entry->low;
        is_fine = can_go_on(m, entry->pc, at);
    }
    pay(m, start - at);
    *ret_pc = entry->pc;
    *ret_at = at;
    entry->position = at;
    if (at <= entry->low) m->stack_count--;
    return is_fine;
}

// Takes more characters for a lazy run until what follows could match. False: there are no more.
static bool lengthen_run(Matcher *m, Entry *entry, uint32_t *ret_pc, int32_t *ret_at) {
    const RegexpSet *set = m->program->sets[m->program->code[entry->pc + 1]];
    int32_t at = entry->position;
    int32_t start = at;
    bool is_fine = false;
    while (entry->low > 0 && !is_fine && at < m->length) {
        if (!set_has(set, next_character(m, &at))) {
            entry->low = 0;
            break;
        }
        entry->low--;
        is_fine = can_go_on(m, entry->pc + 4, at);
    }
    pay(m, at - start);
    *ret_pc = entry->pc + 4;
    *ret_at = at;
    entry->position = at;
    if (!is_fine || entry->low == 0) m->stack_count--;
    return is_fine;
}

// Takes the next way that is left; false: there is none.
static bool backtrack(Matcher *m, uint32_t *ret_pc, int32_t *ret_at) {
    while (m->stack_count) {
        Entry *entry = &m->stack[m->stack_count - 1];
        switch ((EntryKind)entry->kind) {
        case ENTRY_CAPTURE:
        case ENTRY_REGISTER: undo(m, entry); break;
        case ENTRY_LOOK: break;
        case ENTRY_CHOICE:
        case ENTRY_NOT:
            *ret_pc = entry->pc;
            *ret_at = entry->position;
            m->stack_count--;
            return true;
        case ENTRY_RUN:
            if (shorten_run(m, entry, ret_pc, ret_at)) return true;
            continue;
        case ENTRY_LAZY:
            if (lengthen_run(m, entry, ret_pc, ret_at)) return true;
            continue;
        }
        m->stack_count--;
    }
    return false;
}

// [match-2] The marker of the lookaround is at `height`.
static void drop_choices(Matcher *m, size_t height) {
    size_t out = height;
    pay(m, (int32_t)(m->stack_count - height));
    for (size_t i = height; i < m->stack_count; i++) {
        uint32_t kind = m->stack[i].kind;
        if (kind == ENTRY_CAPTURE || kind == ENTRY_REGISTER) m->stack[out++] = m->stack[i];
    }
    m->stack_count = out;
}

// A negative lookaround whose body matched: everything in it is undone, its marker dropped.
static void drop_all(Matcher *m, size_t height) {
    while (m->stack_count > height) undo(m, &m->stack[--m->stack_count]);
}

// --- the loop

static void count_round(Matcher *m, const uint32_t *code, uint32_t *pc, int32_t at) {
    uint32_t count = (uint32_t)m->registers[code[1]];
    uint32_t body = *pc + 6;
    uint32_t exit = code[5];
    if (count < code[2]) {
        *pc = body;
    } else if (count >= code[3] && code[3] != REGEXP_FOREVER) {
        *pc = exit;
    } else if (code[4]) {
        push_choice(m, exit, at);
        *pc = body;
    } else {
        push_choice(m, body, at);
        *pc = exit;
    }
}

static bool match_single(const Matcher *m, const uint32_t *code, int32_t *at) {
    bool is_backward = code[0] & REGEXP_OP_BACKWARD;
    if (is_backward ? *at == 0 : *at >= m->length) return false;
    uint32_t character = is_backward ? previous_character(m, at) : next_character(m, at);
    bool is_set = (code[0] & 0xFF) == REGEXP_OP_SET;
    return is_set ? set_has(m->program->sets[code[1]], character) : character == code[1];
}

static void close_capture(Matcher *m, const uint32_t *code, int32_t at) {
    int32_t mark = m->registers[code[2]];
    bool is_backward = code[0] & REGEXP_OP_BACKWARD;
    set_capture(m, 2 * code[1], is_backward ? at : mark);
    set_capture(m, 2 * code[1] + 1, is_backward ? mark : at);
}

static RegexpOutcome run(Matcher *m, int32_t start) {
    uint32_t pc = 0;
    int32_t at = start;
    for (;;) {
        const uint32_t *code = m->program->code + pc;
        bool is_fine = true;
        if (m->steps == 0) return REGEXP_OUT_OF_STEPS;
        m->steps--;
        switch ((RegexpOp)(code[0] & 0xFF)) {
        case REGEXP_OP_MATCH:
            m->captures[0] = start;
            m->captures[1] = at;
            return REGEXP_MATCH;
        case REGEXP_OP_CHARACTER:
        case REGEXP_OP_SET:
            is_fine = match_single(m, code, &at);
            pc += 2;
            break;
        case REGEXP_OP_JUMP: pc = code[1]; break;
        case REGEXP_OP_SPLIT:
            push_choice(m, code[1], at);
            pc += 2;
            break;
        case REGEXP_OP_SPLIT_LAZY:
            push_choice(m, pc + 2, at);
            pc = code[1];
            break;
        case REGEXP_OP_RUN:
        case REGEXP_OP_RUN_LAZY:
            is_fine = start_run(m, pc, &at);
            pc += 4;
            break;
        case REGEXP_OP_MARK:
            set_register(m, code[1], at);
            pc += 2;
            break;
        case REGEXP_OP_CHECK:
            is_fine = m->registers[code[1]] != at;
            pc += 2;
            break;
        case REGEXP_OP_CHECK_COUNT:
            is_fine = (uint32_t)m->registers[code[2]] < code[3] || m->registers[code[1]] != at;
            pc += 4;
            break;
        case REGEXP_OP_ZERO:
            set_register(m, code[1], 0);
            pc += 2;
            break;
        case REGEXP_OP_ADD:
            set_register(m, code[1], m->registers[code[1]] + 1);
            pc += 2;
            break;
        case REGEXP_OP_COUNT: count_round(m, code, &pc, at); break;
        case REGEXP_OP_CAPTURE:
            close_capture(m, code, at);
            pc += 3;
            break;
        case REGEXP_OP_RESET:
            pay(m, (int32_t)(2 * (code[2] - code[1])));
            for (uint32_t i = 2 * code[1]; i < 2 * code[2]; i++) set_capture(m, i, -1);
            pc += 3;
            break;
        case REGEXP_OP_LINE_START:
            is_fine = is_line_start(m, at);
            pc += 1;
            break;
        case REGEXP_OP_LINE_END:
            is_fine = is_line_finish(m, at);
            pc += 1;
            break;
        case REGEXP_OP_WORD_EDGE:
            is_fine = (is_word_at(m, at - 1) != is_word_at(m, at)) != (bool)code[1];
            pc += 2;
            break;
        case REGEXP_OP_LOOK:
            set_register(m, code[1], (int32_t)m->stack_count + 1);
            push(m, (Entry){code[2] ? ENTRY_NOT : ENTRY_LOOK, code[3], at, 0});
            pc += 4;
            break;
        case REGEXP_OP_LOOK_END: {
            size_t height = (size_t)m->registers[code[1]];
            if (m->is_out_of_memory) return REGEXP_OUT_OF_MEMORY;
            if (code[2]) {
                drop_all(m, height);
                is_fine = false;
            } else {
                at = m->stack[height].position;
                drop_choices(m, height);
            }
            pc += 3;
            break;
        }
        case REGEXP_OP_REFERENCE:
            is_fine = match_reference(m, code[1], code[0] & REGEXP_OP_BACKWARD, &at);
            pc += 2;
            break;
        }
        if (m->is_out_of_memory) return REGEXP_OUT_OF_MEMORY;
        if (!is_fine && !backtrack(m, &pc, &at)) return REGEXP_NO_MATCH;
    }
}

// The next position at or after `at` where a match could begin; length + 1: none.
static int32_t next_start(Matcher *m, int32_t at) {
    const RegexpProgram *program = m->program;
    if (!program->has_first) return at;
    int32_t from = at;
    for (; at < m->length; at++) {
        uint32_t unit = unit_at(m, at);
        if (unit > 255 ? program->is_first_wide : program->first[unit / 32] >> unit % 32 & 1) {
            break;
        }
    }
    pay(m, at - from);
    return at < m->length ? at : m->length + 1;
}

// The last position where a match could begin, by where the required character is.
static int32_t last_start(Matcher *m, int32_t start) {
    if (!m->program->has_required) return m->length;
    uint16_t required = m->program->required;
    int32_t at = m->length - 1;
    if (m->subject.latin1 && required < 256 && start < m->length) {
        const uint8_t *found =
            memrchr(m->subject.latin1 + start, required, (size_t)(m->length - start));
        at = found ? (int32_t)(found - m->subject.latin1) : -1;
        pay(m, (m->length - (at < start ? start : at)) / 8);
        return at;
    }
    while (at >= start && unit_at(m, at) != required) at--;
    pay(m, m->length - at);
    return at >= start ? at : -1;
}

static RegexpOutcome search(Matcher *m, int32_t start) {
    uint32_t capture_words = 2 * (m->program->capture_count + 1);
    bool is_sticky = m->program->flags & REGEXP_STICKY;
    // With u a match never begins in the middle of a pair: here the whole pair is meant.
    if (m->is_unicode && start > 0 && start < m->length && is_low(unit_at(m, start)) &&
        is_high(unit_at(m, start - 1))) {
        start--;
    }
    int32_t last = last_start(m, start);
    for (int32_t at = start; at <= last; at++) {
        if (!is_sticky) at = next_start(m, at);
        if (at > last) break;
        for (uint32_t i = 0; i < capture_words; i++) m->captures[i] = -1;
        pay(m, (int32_t)capture_words);
        m->stack_count = 0;
        RegexpOutcome outcome = run(m, at);
        if (outcome != REGEXP_NO_MATCH || is_sticky) return outcome;
        if (m->is_unicode && at + 1 < m->length && is_high(unit_at(m, at)) &&
            is_low(unit_at(m, at + 1))) {
            at++;
        }
    }
    return REGEXP_NO_MATCH;
}

RegexpOutcome regexp_match(const RegexpProgram *program, const RegexpSubject *subject,
                           uint32_t start, RegexpBudget *budget, int32_t *ret_captures) {
    int32_t few_registers[32];
    Matcher m = {.program = program,
                 .subject = *subject,
                 .length = (int32_t)subject->length,
                 .is_unicode = program->flags & REGEXP_UNICODE,
                 .captures = ret_captures,
                 .stack_max = budget->memory_size / sizeof(Entry),
                 .steps = budget->steps};
    bool is_few = program->register_count <= 32;
    m.registers = is_few ? few_registers : mem_alloc(sizeof(int32_t) * program->register_count);
    for (uint32_t i = 0; i < program->register_count; i++) m.registers[i] = 0;
    RegexpOutcome outcome = search(&m, (int32_t)start);
    budget->steps = m.steps;
    if (!is_few) mem_free(m.registers);
    mem_free(m.stack);
    return outcome;
}
