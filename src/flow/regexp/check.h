// What the parser asks of regular expressions: whether a literal is well-formed. Needs no VM.
#pragma once
#include "base/text/str.h"

enum { FLOW_REGEXP_MESSAGE_MAX = 256 };

// `pattern` and `flags` are UTF-8. False: `ret_message` is what the SyntaxError says.
bool flow_regexp_check(Str pattern, Str flags, char ret_message[FLOW_REGEXP_MESSAGE_MAX]);
