// The groups of client commands, and those that stand alone, each in its file.
#pragma once
#include "cli/cli.h"

extern const CliGroup wf_group, topic_group, dead_group, task_group, queue_group, schedule_group,
    workflow_group, token_group;
extern const struct Verb nodes_verb, logs_verb, signal_verb, emit_verb, attention_verb, stats_verb,
    deploy_verb, doctor_verb, workers_verb, rates_verb, settings_verb, access_verb, changes_verb;
