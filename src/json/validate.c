// Validation: the reader's events, thrown away.
//
// Payloads are kept as the bytes that came in, so most of them are only ever validated. The
// reader is fast enough that a second scanner would only be a second opinion.
//   [validate-1] json_validate answers OK exactly when json_parse does.
#include "json/validate.h"
#include "json/read.h"

Status json_validate(Str text, Diag *diag) {
    JsonReader reader;
    JsonEvent event;
    json_reader_init(&reader, text);
    do {
        TRY(json_next(&reader, &event, diag));
    } while (event.kind != JSON_END);
    return OK;
}
