// Bodies of requests, made of the options that were given.
#pragma once
#include "cli/client/session.h"
#include "cli/options.h"
#include "json/write.h"

typedef struct Body {
    Session *session;
    Buf text;
    JsonWriter json;
} Body;

void body_begin(Body *body, Session *session);              // an object
Str body_end(Body *body);                                   // its text, in the session's arena
void body_put_text(Body *body, const char *name, Str text); // nothing when null
void body_put_raw(Body *body, const char *name, Str json);  // nothing when null
// The members of all options that were given, named as they are with "_" for "-", and with an "s"
// behind those that may be repeated; but for the ones in `others` (ended by NULL). False: a number
// is none, and that has been said.
bool body_put_options(Body *body, const OptionTable *table, const char *const *others);

enum { BODY_NAME_MAX = 32 };
void body_name(const char *option, char ret_name[BODY_NAME_MAX]);
