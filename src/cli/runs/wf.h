// abide wf: commands about runs.
#pragma once
#include "cli/groups.h"
#include "cli/verbs/verb.h"

extern const Verb wf_start_verb, wf_show_verb, wf_ls_verb, wf_try_verb, wf_set_verb;
