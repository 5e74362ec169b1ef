// Bodies of requests, made of the options that were given.
#pragma once
#include "cli/options.h"
#include "cli/session.h"
#include "json/write.h"

typedef struct Body {
    Session *session;
    Buf text;
    JsonWriter json;
} Body;

void body_begin(Body *body, Session *session); // an object
Str body_end(Body *body);                      // its text, in the session's arena
void body_put_text(Body *body, const char *name, Str text);         // nothing when null
void body_put_raw(Body *body, const char *name, Str json);          // nothing when null
void body_put_texts(Body *body, const char *name, const OptionTexts *texts); // nothing when empty
