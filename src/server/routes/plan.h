// What a script that is not deployed would mean for the runs there are, as an answer.
#pragma once
#include "engine/definitions/plan.h"
#include "server/exchange/parts.h"

// `warnings` are the findings of its check, JSON.
void plan_send(Exchange *exchange, FlowModule *module, Str workflow, Str warnings);
