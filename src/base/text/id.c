// Ids that sort by time.
//
// 48 bits of milliseconds and 80 bits of randomness make 128 bits, written as 26 digits of 5 bits
// (the first digit carries only 3). Keys that ascend keep B-trees dense: see DESIGN, section 8.
//   [id-1] Ids of one source ascend strictly, also within a millisecond and when the clock goes
//        back: then the time of the last id is kept and its random part grows.
//   [id-2] The step by which it grows is random, so that an id does not give away the next one.
#include "base/text/id.h"
#include "base/assert.h"

static const char id_digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

enum { ID_HIGH_MAX = 0xFFFF };

void id_source_init(IdSource *source, Env *env) { *source = (IdSource){.env = env, .last_ms = -1}; }

static void draw(IdSource *source, int64_t at_ms) {
    source->last_ms = at_ms;
    source->last_high = env_random_u64(source->env) & ID_HIGH_MAX;
    source->last_low = env_random_u64(source->env);
}

static void step(IdSource *source) {
    uint64_t amount = (env_random_u64(source->env) & 0xFFFFFFFFu) + 1; // [id-2]
    source->last_low += amount;
    if (source->last_low >= amount) return;
    if (++source->last_high > ID_HIGH_MAX) draw(source, source->last_ms + 1); // [id-1]
}

// 128 bits as two words, taken five at a time from the low end.
static IdText write_id(const char *prefix, uint64_t high, uint64_t low) {
    size_t prefix_len = strlen(prefix);
    ASSERT(prefix_len <= ID_PREFIX_MAX);
    IdText id;
    memcpy(id.text, prefix, prefix_len);
    char *body = id.text + prefix_len;
    for (int i = ID_BODY_SIZE - 1; i >= 0; i--) {
        body[i] = id_digits[low & 31];
        low = low >> 5 | high << 59;
        high >>= 5;
    }
    id.len = (uint8_t)(prefix_len + ID_BODY_SIZE);
    id.text[id.len] = '\0';
    return id;
}

IdText id_next(IdSource *source, const char *prefix) {
    int64_t now_ms = env_now_ms(source->env);
    if (now_ms < 0) now_ms = 0;
    if (now_ms > source->last_ms) draw(source, now_ms);
    else step(source);
    uint64_t high = (uint64_t)source->last_ms << 16 | source->last_high;
    return write_id(prefix, high, source->last_low);
}

IdText id_at(const char *prefix, int64_t at_ms, uint64_t number) {
    return write_id(prefix, (uint64_t)at_ms << 16, number);
}
