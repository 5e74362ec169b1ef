// Parse: source text -> program, with every early error of ECMAScript strict mode.
//
// A typical caller:
//
//   flow_source_init(&source, name, text, arena, diag)
//   flow_report_init(&report, &source, arena)
//   program = flow_parse(&source, FLOW_PARSE_WORKFLOW, arena, &report)   NULL: see the report
//
// The program, with its scopes resolved, lives in the arena and points into the source.
// Time is linear in the size of the text; nesting is limited (ast.h [ast-4]).
#pragma once
#include "flow/lexer/report.h"
#include "flow/lexer/source.h"
#include "flow/scope/scope.h"
#include "flow/tree/program.h"

typedef enum FlowParseMode {
    FLOW_PARSE_WORKFLOW, // a file of the user
    FLOW_PARSE_PRELUDE,  // built-ins in our own language: %name(args) is an expression, the top
                         // level is a plain (not async) function body, no global is refused
} FlowParseMode;

// Parses and resolves. Answers NULL when the report holds an error.
FlowProgram *flow_parse(const FlowSource *source, FlowParseMode mode, Arena *arena,
                        FlowReport *report);
