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
// The member of an option that was given, named as it is with "_" for "-", and with an "s" behind
// one that may be repeated. False: it is a number and is none, and that has been said.
bool body_put_option(Body *body, const Option *option);

enum { BODY_NAME_MAX = 32 };
void body_name(const char *option, char ret_name[BODY_NAME_MAX]);
