// abide wf: commands about runs.
#pragma once
#include "cli/client/session.h"
#include "cli/groups.h"
#include "cli/verbs/verb.h"

int wf_start(int argument_count, char **arguments);
int wf_show(int argument_count, char **arguments);
extern const Verb wf_ls_verb;
