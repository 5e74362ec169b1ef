// Documents: the texts that an editor has open, and positions in them.
//
//   [document-1] A position is a line and a number of UTF-16 units in it, both from 0, as the
//        protocol has it. Lines end with \n, \r\n or \r.
//   [document-2] A position behind the end of its line means the end; one behind the last line the
//        end of the text. Editors rely on it.
//   [document-3] Offsets are bytes of UTF-8, and always at the beginning of a character.
#pragma once
#include "base/arena.h"
#include "base/containers/buf.h"
#include "base/containers/vec.h"
#include "base/diag.h"
#include "json/value.h"
#include "json/write.h"

enum { DOCUMENTS_MAX = 256 };

typedef struct Document {
    char *uri; // NULL: the place is free
    Buf text;
    int64_t version;
    VEC(uint32_t) line_starts; // offsets; at least one
} Document;

typedef struct Documents {
    Document items[DOCUMENTS_MAX];
} Documents;

typedef struct Position {
    uint32_t line;
    uint32_t character;
} Position;

void documents_init(Documents *documents);
void documents_done(Documents *documents);
Document *documents_find(Documents *documents, Str uri); // NULL: it is not open
// Opens it, or replaces what was open. ERR_LIMIT: too many, or the text is too large.
MUST_CHECK Status documents_open(Documents *documents, Str uri, Str text, Document **ret_document,
                                 Diag *diag);
void documents_close(Document *document);
// One entry of contentChanges. ERR_INVALID: it is none; ERR_LIMIT: the text becomes too large.
MUST_CHECK Status document_change(Document *document, const JsonValue *change, Diag *diag);

uint32_t position_offset(const Document *document, Position position);
// {"line","character"}. ERR_INVALID: it is no position.
MUST_CHECK Status position_read(const JsonValue *object, Position *ret_position, Diag *diag);
// "key": {"start","end"} of a piece of the text.
typedef struct Range {
    uint32_t start; // offsets
    uint32_t end;
} Range;
void position_put_range(JsonWriter *json, const char *key, const Document *document, Range range);
