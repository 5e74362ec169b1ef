// Mask: paths of data that nobody is shown, and JSON text without it.
//
// A path is one or more names with dots between: "password", "card.number". It means every value
// that is reached by these names, one directly below the other, however deep the first one is:
// "card.number" is `number` of anything called `card`. Indexes do not count, so it is also that of
// each card in a list called `card`.
//
//   [json-mask-1] What is left keeps its bytes.
//   [json-mask-2] A text that is no JSON is hidden as a whole.
//
// Not here: where the paths come from (flow/check/config.h), values in a heap (flow/mask).
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include <stdint.h>

enum { MASK_NAMES_MAX = 64, MASK_PATH_SIZE_MAX = 512 };

typedef struct Mask {
    Str names[MASK_NAMES_MAX]; // of all paths, one after the other
    Str paths[MASK_NAMES_MAX]; // the path that the name belongs to
    uint32_t count;
    uint64_t starts, ends; // the first and last name of each path, a bit per name
    bool hides_all;        // whatever it is
} Mask;

// Which names of paths were just met, a bit each; 0 where a way begins.
typedef uint64_t MaskState;

// Adds a path, which has to live as long. ERR_INVALID: BAD_PATH. ERR_LIMIT: too many names.
MUST_CHECK Status mask_add(Mask *mask, Str path, Diag *diag);
// Whether it hides all that the other one hides. Either may be NULL: it hides nothing. Answers the
// first path that it does not name; null: it names all.
Str mask_missing(const Mask *mask, const Mask *other);
// One name further.
MaskState mask_step(const Mask *mask, MaskState state, Str name);
// The same for whoever compares names himself: `is_name` has a bit for each name that is meant.
static inline MaskState mask_step_bits(const Mask *mask, MaskState state, uint64_t is_name) {
    return (state << 1 | mask->starts) & is_name;
}
// The path that ends here; null: none does.
Str mask_path(const Mask *mask, MaskState state);
// The JSON without what is hidden, itself if that is nothing. A mask that is NULL hides nothing.
// `name`: what the whole is called; null = nothing.
Str mask_json(const Mask *mask, Str name, Str json, Arena *arena);
// The same of a value to which a way has led.
Str mask_json_at(const Mask *mask, MaskState state, Str json, Arena *arena);
