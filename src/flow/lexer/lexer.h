// Lexer: source text -> tokens, one at a time.
//
// The lexer cannot know whether `/` divides or begins a regular expression, nor whether `}` ends
// a block or a substitution in a template: the parser, which does know, asks for the token to be
// scanned again. Moving back is a store to `at`, so looking ahead costs nothing when unused.
//   [lexer-1] A malformed token is reported once, and is a TOKEN_ERROR.
//   [lexer-2] At the end every call answers TOKEN_END.
#pragma once
#include "flow/lexer/names.h"
#include "flow/lexer/report.h"
#include "flow/lexer/source.h"
#include "flow/lexer/token.h"

typedef struct FlowLexer {
    const char *base; // first byte of the text; offsets count from here
    const char *at;   // next byte to read
    const char *end;
    Arena *arena;
    FlowNames *names;
    FlowReport *report;
    bool is_quiet; // skipping text after an error: report nothing
} FlowLexer;

// Skips a byte order mark and a `#!` line.
void flow_lexer_init(FlowLexer *lexer, const FlowSource *source, FlowNames *names, Arena *arena,
                     FlowReport *report);
void flow_lexer_next(FlowLexer *lexer, FlowToken *ret_token);
// `token` is `/` or `/=`: reads it again as a regular expression.
void flow_lexer_rescan_regexp(FlowLexer *lexer, FlowToken *token);
// `token` is `}`: reads on in the template, up to the next `${` or the closing quote.
void flow_lexer_rescan_template(FlowLexer *lexer, FlowToken *token);
