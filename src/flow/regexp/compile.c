// The cache of compiled patterns.
//
// A literal in a loop makes a new RegExp object each time; the pattern behind it must not be
// compiled each time. So patterns are kept process-wide by source and flags, in a table where a new
// one simply takes the place of another.
//
//   [compile-1] A pattern is immutable but for its counters and the PCRE2 code that is added once.
//   [compile-2] The table holds one reference of its own; objects hold one each (FlowBytes).
//   [compile-3] The lock is held for a lookup or an exchange only, never while compiling.
#include "flow/regexp/compile.h"
#include "base/array.h"
#include "base/containers/hash.h"
#include "base/memory.h"
#include "base/text/utf.h"
#include "flow/regexp/check.h"
#include <stdio.h>

enum {
    CACHE_SIZE = 256,
    CACHED_LENGTH_MAX = 2048,      // longer patterns are rare, and would make the cache large
    CACHED_MEMORY_MAX = 256 << 10, // likewise: the cache has at most CACHE_SIZE times that
    FAST_WORK_MIN = 4096,          // PCRE2 compiles to machine code: worth it after so many units
};

static RegexpPattern *cache[CACHE_SIZE];
static atomic_flag cache_lock = ATOMIC_FLAG_INIT;

static void lock(void) {
    while (atomic_flag_test_and_set_explicit(&cache_lock, memory_order_acquire)) {}
}
static void unlock(void) { atomic_flag_clear_explicit(&cache_lock, memory_order_release); }

static uint32_t hash_pattern(const uint16_t *source, uint32_t length, uint32_t flags) {
    uint64_t hash = hash_bytes(source, sizeof(uint16_t) * length) ^ hash_u64(flags);
    return (uint32_t)(hash ^ hash >> 32);
}

static bool is_pattern(const RegexpPattern *pattern, const uint16_t *source, uint32_t length,
                       uint32_t flags) {
    return pattern && pattern->length == length && pattern->flags == flags &&
           (length == 0 || memcmp(pattern->source, source, sizeof(uint16_t) * length) == 0);
}

static RegexpPattern *pattern_new(const uint16_t *source, uint32_t length, uint32_t flags,
                                  RegexpMade *ret_made) {
    RegexpPattern *pattern = mem_zalloc(sizeof *pattern);
    atomic_init(&pattern->reference_count, 1);
    arena_init(&pattern->arena);
    pattern->length = length;
    pattern->flags = flags;
    pattern->source = arena_alloc(&pattern->arena, sizeof(uint16_t) * ((size_t)length + 1));
    if (length) memcpy(pattern->source, source, sizeof(uint16_t) * length);
    RegexpSource text = {pattern->source, length, flags};
    bool is_fine = regexp_parse(&pattern->arena, &text, &pattern->tree, ret_made->message);
    if (is_fine && !regexp_compile(&pattern->arena, &pattern->tree, &pattern->program)) {
        memcpy(ret_made->message, "Regular expression too large", 29);
        is_fine = false;
    }
    ret_made->is_new = true;
    ret_made->work = pattern->tree.work + length;
    if (is_fine) return pattern;
    arena_done(&pattern->arena);
    mem_free(pattern);
    return NULL;
}

RegexpPattern *regexp_pattern_get(const uint16_t *source, uint32_t length, uint32_t flags,
                                  RegexpMade *ret_made) {
    *ret_made = (RegexpMade){.work = length / 16};
    uint32_t hash = hash_pattern(source, length, flags);
    RegexpPattern **slot = &cache[hash % CACHE_SIZE];
    lock();
    RegexpPattern *pattern = *slot;
    bool is_hit = is_pattern(pattern, source, length, flags);
    if (is_hit) atomic_fetch_add(&pattern->reference_count, 1);
    unlock();
    if (is_hit) return pattern;
    pattern = pattern_new(source, length, flags, ret_made);
    if (!pattern || length > CACHED_LENGTH_MAX) return pattern;
    if (pattern->arena.used_size > CACHED_MEMORY_MAX) return pattern;
    pattern->hash = hash;
    atomic_fetch_add(&pattern->reference_count, 1); // [compile-2]
    lock();
    RegexpPattern *old = *slot;
    *slot = pattern;
    unlock();
    if (old) regexp_pattern_release(old);
    return pattern;
}

void regexp_pattern_release(void *data) {
    RegexpPattern *pattern = data;
    if (atomic_fetch_sub(&pattern->reference_count, 1) != 1) return;
    for (int i = 0; i < 2; i++) regexp_fast_free(atomic_load(&pattern->fast[i].code));
    arena_done(&pattern->arena);
    mem_free(pattern);
}

// The PCRE2 code, made when the pattern has been used enough; NULL: not, or not yet.
static RegexpFast *fast_code(RegexpPattern *pattern, const RegexpSubject *subject,
                             RegexpBudget *budget) {
    int which = subject->wide ? 1 : 0;
    RegexpFast *code = atomic_load_explicit(&pattern->fast[which].code, memory_order_acquire);
    if (code || atomic_load(&pattern->fast[which].is_unusable)) return code;
    uint32_t work = atomic_fetch_add(&pattern->fast[which].work, subject->length + 1);
    if (work < FAST_WORK_MIN) return NULL;
    RegexpFast *made = regexp_fast_new(&pattern->tree, subject->wide != NULL);
    regexp_pay(budget, made ? regexp_fast_work(made) : pattern->tree.work);
    if (!made) {
        atomic_store(&pattern->fast[which].is_unusable, true);
        return NULL;
    }
    if (atomic_compare_exchange_strong(&pattern->fast[which].code, &code, made)) return made;
    regexp_fast_free(made); // another thread was first
    return code;
}

RegexpOutcome regexp_pattern_match(RegexpPattern *pattern, const RegexpSubject *subject,
                                   uint32_t start, RegexpBudget *budget, int32_t *ret_captures) {
    RegexpFast *fast = fast_code(pattern, subject, budget);
    if (fast) {
        RegexpOutcome outcome = regexp_fast_match(fast, subject, start, budget, ret_captures);
        if (outcome != REGEXP_UNUSABLE) return outcome;
    }
    return regexp_match(&pattern->program, subject, start, budget, ret_captures);
}

bool regexp_parse_flags(const uint16_t *flags, size_t length, uint32_t *ret_flags) {
    static const struct {
        char letter;
        uint8_t bit;
    } known[] = {
        {'d', REGEXP_HAS_INDICES}, {'g', REGEXP_GLOBAL},  {'i', REGEXP_IGNORE_CASE},
        {'m', REGEXP_MULTILINE},   {'s', REGEXP_DOT_ALL}, {'u', REGEXP_UNICODE},
        {'y', REGEXP_STICKY},
    };
    uint32_t result = 0;
    for (size_t i = 0; i < length; i++) {
        uint32_t bit = 0;
        for (size_t j = 0; j < COUNT_OF(known); j++) {
            if (flags[i] == (unsigned char)known[j].letter) bit = known[j].bit;
        }
        if (!bit || result & bit) return false;
        result |= bit;
    }
    *ret_flags = result;
    return true;
}

// --- literals of the source text

static uint32_t utf16_of(Str text, uint16_t *ret_units) {
    uint32_t count = 0;
    const char *at = text.data;
    const char *end = text.data + text.len;
    while (at < end) {
        uint32_t c = utf8_decode(&at, end);
        if (c > 0xFFFF) {
            ret_units[count++] = (uint16_t)(0xD800 + ((c - 0x10000) >> 10));
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        ret_units[count++] = (uint16_t)c;
    }
    return count;
}

bool flow_regexp_check(Str pattern, Str flags, char ret_message[FLOW_REGEXP_MESSAGE_MAX]) {
    uint16_t *units = mem_alloc(sizeof(uint16_t) * (pattern.len + flags.len + 1));
    uint32_t bits = 0;
    if (!regexp_parse_flags(units, utf16_of(flags, units), &bits)) {
        snprintf(ret_message, FLOW_REGEXP_MESSAGE_MAX, "Invalid regular expression flags");
        mem_free(units);
        return false;
    }
    RegexpMade made;
    RegexpPattern *read = regexp_pattern_get(units, utf16_of(pattern, units), bits, &made);
    mem_free(units);
    if (read) {
        regexp_pattern_release(read);
        return true;
    }
    Str shown = {pattern.data, pattern.len < 120 ? pattern.len : 120};
    snprintf(ret_message, FLOW_REGEXP_MESSAGE_MAX, "Invalid regular expression: /%.*s/%.*s: %s",
             STR_ARG(shown), STR_ARG(flags), made.message);
    return false;
}
