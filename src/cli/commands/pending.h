// Commands about what is pending: events of a topic, signals of a run.
#pragma once
#include "cli/verbs/verb.h"

extern const Verb topic_events_verb, wf_signals_verb;
int topic_rm_events(int argument_count, char **arguments);
int wf_rm_signals(int argument_count, char **arguments);
