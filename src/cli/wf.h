// abide wf: commands about runs.
#pragma once
#include "cli/groups.h"
#include "cli/session.h"
#include "cli/verb.h"

int wf_start(int argument_count, char **arguments);
int wf_show(int argument_count, char **arguments);
extern const Verb wf_ls_verb;
