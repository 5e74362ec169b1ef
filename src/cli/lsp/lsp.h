// The language server: what its parts answer, each as JSON into a writer.
//
//   [lsp-1] Everything comes from the tables that `abide check` goes by, so that the editor and
//        the command never differ.
//   [lsp-2] Nothing is kept between two requests but the open texts: an answer is a function of
//        the text and the position.
#pragma once
#include "cli/lsp/document.h"

typedef struct LspRequest {
    const Document *document;
    uint32_t offset; // of the position it asks about
    Arena *arena;    // for this request
} LspRequest;

// Each writes the `result`.
void lsp_complete(const LspRequest *request, JsonWriter *json);
void lsp_hover(const LspRequest *request, JsonWriter *json);
void lsp_definition(const LspRequest *request, JsonWriter *json);
void lsp_symbols(const LspRequest *request, JsonWriter *json);
// Diagnostics of the whole text, an array.
void lsp_diagnose(const LspRequest *request, JsonWriter *json);
// Fixes for the diagnostics that the client names in `context`; an array.
void lsp_actions(const LspRequest *request, const JsonValue *context, JsonWriter *json);
