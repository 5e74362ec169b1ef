// Details: one thing of the API, shown member by member.
#pragma once
#include "cli/client/session.h"

// With -o json as it is, with -o ids its `id_field`, else a line per member. Members in `hidden`
// (ended by NULL, may be NULL itself) have no line.
void details_print(Session *session, const JsonValue *object, const char *id_field,
                   const char *const *hidden);
