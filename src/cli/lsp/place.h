// Place: what a position in a text stands in, as far as the workflow API has something to say.
#pragma once
#include "cli/lsp/scan.h"
#include "flow/check/api.h"
#include "flow/check/config.h"

// The options that an object literal may have: of a call, or of `export const config`.
typedef struct PlaceOptions {
    Str call;                   // "Task.run", "config"
    Str prefix;                 // "retry." inside of it; else empty
    const FlowApiField *fields; // of a call; or NULL
    const ConfigKey *keys;      // of the config; or NULL
    size_t key_count;
} PlaceOptions;

typedef enum PlaceKind {
    PLACE_NOWHERE, // in a string, a comment, or where nothing of ours can stand
    PLACE_NAME,    // a name may stand here
    PLACE_MEMBER,  // a member of `object`
    PLACE_OPTION,  // a key of `options`
    PLACE_VALUE,   // the value of `field`, or of a key
} PlaceKind;

typedef struct Place {
    PlaceKind kind;
    Str object;
    PlaceOptions options;
    const FlowApiField *field; // NULL: unknown, or a key of the config
} Place;

// What may be written behind the end of the text.
void place_at_end(const Scan *scan, Arena *arena, Place *ret_place);
// What the word is: PLACE_NAME, PLACE_MEMBER or PLACE_OPTION.
void place_of_word(const Scan *scan, uint32_t word, Arena *arena, Place *ret_place);

// One option, whichever table it comes from.
typedef struct PlaceOption {
    const char *name;
    Str detail;        // "duration", "integer, -1000 to 1000", "\"abandon\" or \"cancel\""
    const char *about; // NULL: nothing is said
    bool is_object;    // it has options of its own
} PlaceOption;
// False beyond the last one.
bool place_option(const PlaceOptions *options, size_t index, Arena *arena, PlaceOption *ret_option);
// "Task.run(name, input?, options?)"
Str place_signature(const FlowApiMember *member, Arena *arena);
