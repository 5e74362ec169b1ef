// Commands about what is pending: events of a topic, signals of a run.
#pragma once
#include "cli/verbs/verb.h"

extern const Verb topic_events_verb, topic_rm_events_verb, wf_signals_verb, wf_rm_signals_verb;
