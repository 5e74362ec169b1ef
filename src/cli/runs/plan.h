// abide deploy --plan, abide workflow plan: what a script would mean for the runs there are.
#pragma once
#include "cli/client/session.h"

void plan_print(const JsonValue *plan); // an answer of PUT /v1/workflows/NAME?plan=true
