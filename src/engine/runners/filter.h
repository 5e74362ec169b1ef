// Filters: conditions on an event's payload, for Event.wait(topic, {filter}).
//
// A filter is JSON. An object matches payloads that have at least its members, with equal values,
// however deep: {"order": {"id": 7}}. A string is an expression over the payload's members:
//
//     "order.id == 7 && (total > 100 || !isTest)"
//
// Operators, weakest first: ||  &&  == != < <= > >=  !  and parentheses; operands are paths
// (a.b.c; a missing member is null), numbers, strings in single or double quotes, true, false and
// null.
// Numbers compare by value, strings by code point; other comparisons of different kinds are false.
#pragma once
#include "base/diag.h"
#include "base/text/str.h"

// ERR_INVALID, code BAD_FILTER, with the place and what was expected.
MUST_CHECK Status filter_check(Str filter_json, Diag *diag);
// A filter that does not check never matches. Fits StoreConfig.filter_matches.
bool filter_matches(Str filter_json, Str payload);
