// Source: the text of one Flow file, and where its lines begin.
//   [source-1] The text is a private copy followed by FLOW_SOURCE_PADDING NUL bytes, so that the
//        lexer may read a few bytes ahead without asking where the end is.
//   [source-2] Offsets are bytes; lines and columns count from 1, columns in characters.
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include "base/text/str.h"
#include <stdint.h>

enum {
    FLOW_SOURCE_MAX = 16 << 20, // bytes of one file; a tree takes up to 100 times as much
    FLOW_SOURCE_PADDING = 16,
};

typedef struct FlowReport FlowReport;

typedef struct FlowSource {
    Str name;              // file name as messages show it
    Str text;              // [source-1]
    uint32_t *line_starts; // offset of the first byte of each line
    uint32_t line_count;   // at least 1
} FlowSource;

typedef struct FlowPosition {
    uint32_t line;
    uint32_t column;
} FlowPosition;

// Copies name and text into the arena. ERR_LIMIT when the text is larger than FLOW_SOURCE_MAX.
Status flow_source_init(FlowSource *source, Str name, Str text, Arena *arena,
                        Diag *diag) MUST_CHECK;
// Reports bytes that are not UTF-8, and NUL bytes. Answers whether the text may be read.
bool flow_source_check(const FlowSource *source, FlowReport *report);
FlowPosition flow_source_position(const FlowSource *source, uint32_t offset);
// The line without its terminator; `line` counts from 1.
Str flow_source_line(const FlowSource *source, uint32_t line);
