// abide wf: commands about runs.
#pragma once
#include "cli/groups.h"
#include "cli/session.h"

int wf_start(int argument_count, char **arguments);
int wf_ls(int argument_count, char **arguments);
int wf_show(int argument_count, char **arguments);
