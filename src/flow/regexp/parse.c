// Pattern text to tree.
//
// Follows the grammar of the language: strict with the flag u, and without it the lenient grammar
// that web pages rely on (Annex B): `{` that is no quantifier is itself, \1 without a group is an
// octal escape, lookaheads may be repeated, and so on.
//
//   [parse-1] Recursion is by nesting of groups, and REGEXP_DEPTH_MAX bounds it.
//   [parse-2] Ignoring case is resolved here: under the flag i a letter becomes a set.
//   [parse-3] The first error stops everything: parser->message is set and the functions return.
#include "flow/regexp/parse.h"
#include "flow/lexer/unicode_id.h"
#include "flow/regexp/internal.h"
#include <stdio.h>

// --- errors and characters

void regexp_fail(RegexpParser *p, const char *message) {
    if (p->message[0]) return;
    snprintf(p->message, REGEXP_MESSAGE_MAX, "%s", message);
    p->at = p->end;
}

static void regexp_work(RegexpParser *p, size_t steps) {
    size_t left = REGEXP_WORK_MAX - p->tree->work;
    bool is_much = steps > left || p->arena->used_size > REGEXP_MEMORY_MAX;
    p->tree->work += (uint32_t)(steps < left ? steps : left);
    if (is_much) regexp_fail(p, "Regular expression too large");
}

bool regexp_is_unicode(const RegexpParser *p) { return p->tree->flags & REGEXP_UNICODE; }

uint32_t regexp_peek(const RegexpParser *p, size_t ahead) {
    return (size_t)(p->end - p->at) > ahead ? p->at[ahead] : REGEXP_END;
}

bool regexp_skip(RegexpParser *p, uint16_t unit) {
    if (p->at == p->end || *p->at != unit) return false;
    p->at++;
    return true;
}

// The next character of the pattern: a code point with the flag u, else a unit.
uint32_t regexp_take(RegexpParser *p) {
    uint32_t unit = *p->at++;
    if (regexp_is_unicode(p) && unit >= 0xD800 && unit <= 0xDBFF && p->at < p->end &&
        *p->at >= 0xDC00 && *p->at <= 0xDFFF) {
        unit = 0x10000 + ((unit - 0xD800) << 10) + (*p->at++ - 0xDC00u);
    }
    return unit;
}

// --- nodes

enum { NODE_WORK = 16, CLOSE_CASE_WORK = 4000 };

static RegexpNode *new_node(RegexpParser *p, RegexpNodeKind kind) {
    regexp_work(p, NODE_WORK);
    RegexpNode *node = ARENA_NEW(p->arena, RegexpNode);
    node->kind = (uint8_t)kind;
    node->first_capture = node->end_capture = p->next_capture;
    return node;
}

// Under the flag i. Beyond ASCII this goes through a table of all letters that have a case.
static void close_case(RegexpParser *p, RegexpRanges *ranges) {
    if (ranges->count == 0) return;
    bool is_ascii = true;
    for (size_t i = 0; i < ranges->count && is_ascii; i++) is_ascii = ranges->data[i].last < 128;
    if (!is_ascii) regexp_work(p, CLOSE_CASE_WORK);
    regexp_ranges_close_case(ranges, regexp_is_unicode(p));
}

static RegexpNode *set_node(RegexpParser *p, RegexpRanges *ranges) {
    regexp_work(p, 8 * ranges->count);
    regexp_ranges_normalize(ranges);
    RegexpNode *node = new_node(p, REGEXP_NODE_SET);
    node->set = regexp_set_new(p->arena, ranges);
    vec_free(ranges);
    return node;
}

static RegexpNode *character_node(RegexpParser *p, uint32_t character) {
    if (p->tree->flags & REGEXP_IGNORE_CASE) { // [parse-2]
        RegexpRanges ranges = {0};
        regexp_ranges_add(&ranges, character, character);
        close_case(p, &ranges);
        bool is_alone = ranges.count == 1 && ranges.data[0].first == ranges.data[0].last;
        if (!is_alone) return set_node(p, &ranges);
        vec_free(&ranges);
    }
    RegexpNode *node = new_node(p, REGEXP_NODE_CHARACTER);
    node->a = character;
    return node;
}

static RegexpNode *dot_node(RegexpParser *p) {
    RegexpRanges ranges = {0};
    if (!(p->tree->flags & REGEXP_DOT_ALL)) {
        regexp_ranges_add(&ranges, '\n', '\n');
        regexp_ranges_add(&ranges, '\r', '\r');
        regexp_ranges_add(&ranges, 0x2028, 0x2029);
    }
    regexp_ranges_invert(&ranges);
    return set_node(p, &ranges);
}

static RegexpNode *class_node(RegexpParser *p) {
    bool is_negated = regexp_skip(p, '^');
    RegexpRanges ranges = {0};
    regexp_read_class(p, &ranges);
    if (p->tree->flags & REGEXP_IGNORE_CASE) close_case(p, &ranges);
    if (is_negated) regexp_ranges_invert(&ranges);
    return set_node(p, &ranges);
}

// --- names of groups

static bool is_name_character(uint32_t c, bool is_first) {
    if (c >= 128) return is_first ? unicode_is_id_start(c) : unicode_is_id_continue(c);
    uint32_t lower = c | 0x20;
    return c == '$' || c == '_' || (lower >= 'a' && lower <= 'z') ||
           (!is_first && c >= '0' && c <= '9');
}

// Reads `name>`; false: it is none (and the caller fails).
static bool read_name(RegexpParser *p, RegexpName *ret_name) {
    const uint16_t *end = p->at;
    while (end < p->end && *end != '>') end++;
    if (end == p->end) return false;
    uint16_t *units = arena_alloc(p->arena, sizeof(uint16_t) * (size_t)(end - p->at + 1));
    uint32_t length = 0;
    for (;;) {
        if (p->at == p->end) return false;
        uint32_t c = *p->at++;
        if (c == '>') break;
        if (c == '\\') {
            if (!regexp_skip(p, 'u') || !regexp_read_unicode_escape(p, true, &c)) return false;
        } else if (c >= 0xD800 && c <= 0xDBFF && p->at < p->end && *p->at >= 0xDC00 &&
                   *p->at <= 0xDFFF) {
            c = 0x10000 + ((c - 0xD800) << 10) + (*p->at++ - 0xDC00u);
        }
        if (!is_name_character(c, length == 0)) return false;
        if (c > 0xFFFF) {
            units[length++] = (uint16_t)(0xD800 + ((c - 0x10000) >> 10));
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        units[length++] = (uint16_t)c;
    }
    *ret_name = (RegexpName){units, length, 0};
    return length > 0;
}

static bool same_name(const RegexpName *a, const RegexpName *b) {
    return a->length == b->length && memcmp(a->units, b->units, sizeof(uint16_t) * a->length) == 0;
}

static void add_name(RegexpParser *p, RegexpName name, uint32_t capture) {
    regexp_work(p, p->names.count / 4);
    for (size_t i = 0; i < p->names.count; i++) {
        if (same_name(&p->names.data[i], &name)) {
            regexp_fail(p, "Duplicate capture group name");
            return;
        }
    }
    name.capture = capture;
    vec_push(&p->names, name);
}

// --- terms

static RegexpNode *read_choice(RegexpParser *p);

static RegexpNode *look_node(RegexpParser *p, bool is_behind, bool is_negated) {
    RegexpNode *node = new_node(p, REGEXP_NODE_LOOK);
    node->is_behind = is_behind;
    node->is_negated = is_negated;
    if (is_behind) p->tree->has_look_behind = true;
    node->child = read_choice(p);
    node->end_capture = p->next_capture;
    return node;
}

static RegexpNode *capture_node(RegexpParser *p, const RegexpName *name) {
    RegexpNode *node = new_node(p, REGEXP_NODE_CAPTURE);
    node->a = p->next_capture++;
    if (node->a > REGEXP_CAPTURES_MAX) regexp_fail(p, "Regular expression too large");
    if (name) add_name(p, *name, node->a);
    node->child = read_choice(p);
    node->end_capture = p->next_capture;
    return node;
}

// After `(`.
static RegexpNode *read_group(RegexpParser *p, bool *ret_can_repeat) {
    if (p->depth++ >= REGEXP_DEPTH_MAX) {
        regexp_fail(p, "Regular expression too large");
        return NULL;
    }
    RegexpNode *node = NULL;
    RegexpName name;
    if (!regexp_skip(p, '?')) {
        node = capture_node(p, NULL);
    } else if (regexp_skip(p, ':')) {
        node = read_choice(p);
    } else if (regexp_peek(p, 0) == '=' || regexp_peek(p, 0) == '!') {
        node = look_node(p, false, *p->at++ == '!');
        *ret_can_repeat = !regexp_is_unicode(p);
    } else if (!regexp_skip(p, '<')) {
        regexp_fail(p, "Invalid group");
    } else if (regexp_peek(p, 0) == '=' || regexp_peek(p, 0) == '!') {
        node = look_node(p, true, *p->at++ == '!');
        *ret_can_repeat = false;
    } else if (!read_name(p, &name)) {
        regexp_fail(p, "Invalid capture group name");
    } else {
        node = capture_node(p, &name);
    }
    p->depth--;
    if (!regexp_skip(p, ')')) regexp_fail(p, "Unterminated group");
    return node;
}

static RegexpNode *reference_node(RegexpParser *p, uint32_t capture) {
    RegexpNode *node = new_node(p, REGEXP_NODE_REFERENCE);
    node->a = capture;
    p->tree->has_reference = true;
    return node;
}

// \k<name>: the group may come later, so the number is filled in at the end.
static RegexpNode *named_reference(RegexpParser *p) {
    RegexpName name;
    if (!regexp_skip(p, '<') || !read_name(p, &name)) {
        regexp_fail(p, "Invalid named reference");
        return NULL;
    }
    RegexpNode *node = reference_node(p, 0);
    vec_push(&p->references, (RegexpNameUse){name, node});
    return node;
}

// \1 .. : a reference when there are so many groups. 0: it is not one, and nothing was taken.
static uint32_t read_reference_number(RegexpParser *p) {
    const uint16_t *start = p->at;
    uint32_t number = 0;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') {
        number = number * 10 + (uint32_t)(*p->at++ - '0');
        if (number > REGEXP_CAPTURES_MAX) number = REGEXP_CAPTURES_MAX + 1;
    }
    if (number <= p->tree->capture_count) return number;
    if (regexp_is_unicode(p)) regexp_fail(p, "Invalid escape");
    else p->at = start;
    return 0;
}

// After a backslash, outside of a class.
static RegexpNode *read_escape(RegexpParser *p, bool *ret_can_repeat) {
    uint32_t c = regexp_peek(p, 0);
    if (c == REGEXP_END) {
        regexp_fail(p, "\\ at end of pattern");
        return NULL;
    }
    if (c == 'b' || c == 'B') {
        p->at++;
        *ret_can_repeat = false;
        RegexpNode *node = new_node(p, REGEXP_NODE_WORD_EDGE);
        node->is_negated = c == 'B';
        return node;
    }
    if (c >= '1' && c <= '9') {
        uint32_t number = read_reference_number(p);
        if (number) return reference_node(p, number);
        if (p->message[0]) return NULL;
    }
    if (c == 'k' && (regexp_is_unicode(p) || p->has_names)) {
        p->at++;
        return named_reference(p);
    }
    RegexpRanges ranges = {0};
    uint32_t character = 0;
    if (regexp_read_class_escape(p, &ranges)) {
        if (p->tree->flags & REGEXP_IGNORE_CASE) close_case(p, &ranges);
        return set_node(p, &ranges);
    }
    vec_free(&ranges);
    if (p->message[0]) return NULL;
    character = regexp_read_character_escape(p, false);
    return character_node(p, character);
}

// --- quantifiers

static uint32_t read_number(RegexpParser *p) {
    uint64_t number = 0;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') {
        number = number * 10 + (uint64_t)(*p->at++ - '0');
        if (number > REGEXP_REPEAT_MAX) number = REGEXP_REPEAT_MAX;
    }
    return (uint32_t)number;
}

static bool is_digit(uint32_t c) { return c >= '0' && c <= '9'; }

// {n}, {n,} or {n,m} from the `{` on; false: it is none of them, and nothing was taken.
static bool read_braces(RegexpParser *p, uint32_t *ret_min, uint32_t *ret_max) {
    const uint16_t *start = p->at;
    p->at++;
    bool is_quantifier = is_digit(regexp_peek(p, 0));
    *ret_min = *ret_max = read_number(p);
    if (is_quantifier && regexp_skip(p, ',')) {
        *ret_max = is_digit(regexp_peek(p, 0)) ? read_number(p) : REGEXP_FOREVER;
    }
    is_quantifier = is_quantifier && regexp_skip(p, '}');
    if (!is_quantifier) p->at = start;
    return is_quantifier;
}

// The term with what follows it: itself when that is no quantifier.
static RegexpNode *read_quantifier(RegexpParser *p, RegexpNode *term) {
    uint32_t min = 0;
    uint32_t max = REGEXP_FOREVER;
    uint32_t c = regexp_peek(p, 0);
    if (c == '*') p->at++;
    else if (c == '+') p->at++, min = 1;
    else if (c == '?') p->at++, max = 1;
    else if (c == '{') {
        if (!read_braces(p, &min, &max)) {
            if (regexp_is_unicode(p)) regexp_fail(p, "Incomplete quantifier");
            return term;
        }
    } else {
        return term;
    }
    if (max < min) {
        regexp_fail(p, "numbers out of order in {} quantifier");
        return term;
    }
    RegexpNode *node = new_node(p, REGEXP_NODE_REPEAT);
    node->is_greedy = !regexp_skip(p, '?');
    node->a = min;
    node->b = max;
    node->child = term;
    node->first_capture = term->first_capture;
    return node;
}

static bool is_quantifier_ahead(RegexpParser *p) {
    uint32_t c = regexp_peek(p, 0);
    if (c == '*' || c == '+' || c == '?') return true;
    if (c != '{') return false;
    const uint16_t *start = p->at;
    uint32_t min;
    uint32_t max;
    bool is_quantifier = read_braces(p, &min, &max);
    p->at = start;
    return is_quantifier;
}

// One character, class, group or assertion.
static RegexpNode *read_atom(RegexpParser *p, bool *ret_can_repeat) {
    uint32_t c = regexp_take(p);
    bool is_unicode = regexp_is_unicode(p);
    switch (c) {
    case '^':
    case '$':
        *ret_can_repeat = false;
        return new_node(p, c == '^' ? REGEXP_NODE_LINE_START : REGEXP_NODE_LINE_END);
    case '(': return read_group(p, ret_can_repeat);
    case '.': return dot_node(p);
    case '[': return class_node(p);
    case '\\': return read_escape(p, ret_can_repeat);
    case '*':
    case '+':
    case '?': regexp_fail(p, "Nothing to repeat"); return NULL;
    case '{':
        p->at--;
        if (is_unicode || is_quantifier_ahead(p)) regexp_fail(p, "Nothing to repeat");
        else p->at++;
        return character_node(p, c);
    case '}':
    case ']':
        if (is_unicode) regexp_fail(p, "Lone quantifier brackets");
        return character_node(p, c);
    case ')': regexp_fail(p, "Unmatched ')'"); return NULL;
    default: return character_node(p, c);
    }
}

static RegexpNode *read_term(RegexpParser *p) {
    bool can_repeat = true;
    uint32_t first_capture = p->next_capture;
    RegexpNode *term = read_atom(p, &can_repeat);
    if (p->message[0]) return NULL;
    term->first_capture = first_capture;
    term->end_capture = p->next_capture;
    if (!can_repeat) {
        if (is_quantifier_ahead(p)) regexp_fail(p, "Nothing to repeat");
        return term;
    }
    return read_quantifier(p, term);
}

// Terms up to `|`, `)` or the end.
static RegexpNode *read_sequence(RegexpParser *p) {
    RegexpNode *sequence = new_node(p, REGEXP_NODE_SEQUENCE);
    RegexpNode **last = &sequence->child;
    while (p->at < p->end && *p->at != '|' && (*p->at != ')' || p->depth == 0)) {
        RegexpNode *term = read_term(p);
        if (p->message[0]) return sequence;
        // A group without captures is another sequence or choice; its own links stay intact
        // because each node is in one list only.
        *last = term;
        last = &term->next;
    }
    sequence->end_capture = p->next_capture;
    if (!sequence->child) sequence->kind = REGEXP_NODE_EMPTY;
    return sequence;
}

static RegexpNode *read_choice(RegexpParser *p) {
    RegexpNode *first = read_sequence(p);
    if (p->message[0] || p->at == p->end || *p->at != '|') return first;
    RegexpNode *choice = new_node(p, REGEXP_NODE_CHOICE);
    choice->first_capture = first->first_capture;
    choice->child = first;
    RegexpNode **last = &first->next;
    while (!p->message[0] && regexp_skip(p, '|')) {
        RegexpNode *sequence = read_sequence(p);
        *last = sequence;
        last = &sequence->next;
    }
    choice->end_capture = p->next_capture;
    return choice;
}

// --- the whole pattern

// Counts the groups beforehand: whether \2 is a reference depends on groups that come later.
static void count_groups(RegexpParser *p) {
    bool is_in_class = false;
    for (const uint16_t *at = p->at; at < p->end; at++) {
        if (*at == '\\') {
            at++;
        } else if (*at == '[') {
            is_in_class = true;
        } else if (*at == ']') {
            is_in_class = false;
        } else if (*at == '(' && !is_in_class) {
            size_t left = (size_t)(p->end - at);
            bool is_plain = left < 2 || at[1] != '?';
            bool is_named =
                left > 3 && at[1] == '?' && at[2] == '<' && at[3] != '=' && at[3] != '!';
            if (is_plain || is_named) p->tree->capture_count++;
            if (is_named) p->has_names = true;
        }
    }
}

static void resolve_names(RegexpParser *p) {
    for (size_t i = 0; i < p->references.count; i++) {
        RegexpNameUse *use = &p->references.data[i];
        regexp_work(p, p->names.count / 4);
        for (size_t j = 0; j < p->names.count; j++) {
            if (same_name(&p->names.data[j], &use->name)) {
                use->node->a = p->names.data[j].capture;
            }
        }
        if (use->node->a == 0) regexp_fail(p, "Invalid named capture referenced");
    }
}

bool regexp_parse(Arena *arena, const RegexpSource *source, RegexpTree *ret_tree,
                  char ret_message[REGEXP_MESSAGE_MAX]) {
    *ret_tree = (RegexpTree){.flags = source->flags};
    ret_message[0] = 0;
    RegexpParser p = {.arena = arena,
                      .tree = ret_tree,
                      .at = source->units,
                      .end = source->units + source->length,
                      .message = ret_message,
                      .next_capture = 1};
    count_groups(&p);
    ret_tree->root = read_choice(&p);
    if (!ret_message[0] && p.at < p.end) regexp_fail(&p, "Unmatched ')'");
    if (!ret_message[0]) resolve_names(&p);
    if (p.names.count) {
        ret_tree->names = ARENA_ARRAY(arena, RegexpName, p.names.count);
        memcpy(ret_tree->names, p.names.data, sizeof(RegexpName) * p.names.count);
        ret_tree->name_count = (uint32_t)p.names.count;
    }
    vec_free(&p.names);
    vec_free(&p.references);
    ASSERT(ret_message[0] || p.next_capture == ret_tree->capture_count + 1);
    return !ret_message[0];
}

bool regexp_node_can_be_empty(const RegexpNode *node) {
    switch ((RegexpNodeKind)node->kind) {
    case REGEXP_NODE_CHARACTER:
    case REGEXP_NODE_SET: return false;
    case REGEXP_NODE_SEQUENCE:
        for (const RegexpNode *child = node->child; child; child = child->next) {
            if (!regexp_node_can_be_empty(child)) return false;
        }
        return true;
    case REGEXP_NODE_CHOICE:
        for (const RegexpNode *child = node->child; child; child = child->next) {
            if (regexp_node_can_be_empty(child)) return true;
        }
        return false;
    case REGEXP_NODE_CAPTURE: return regexp_node_can_be_empty(node->child);
    case REGEXP_NODE_REPEAT: return node->a == 0 || regexp_node_can_be_empty(node->child);
    case REGEXP_NODE_EMPTY:
    case REGEXP_NODE_LINE_START:
    case REGEXP_NODE_LINE_END:
    case REGEXP_NODE_WORD_EDGE:
    case REGEXP_NODE_LOOK:
    case REGEXP_NODE_REFERENCE: return true;
    }
    UNREACHABLE();
}
