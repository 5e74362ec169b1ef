// Details: one thing of the API, shown member by member.
#pragma once
#include "cli/session.h"

// GETs `path` and shows it: with -o json as it is, with -o ids its `id_field`, else a line per
// member. Members in `hidden` (ended by NULL, may be NULL itself) have no line.
bool details_show(Session *session, Str path, const char *id_field, const char *const *hidden);
// The same for an answer that is there already.
void details_print(Session *session, const JsonValue *object, const char *id_field,
                   const char *const *hidden);
// A whole command that shows one thing, named by its only operand.
int details_command(const OptionTable *table, const char *path, const char *id_field,
                    int argument_count, char **arguments);
