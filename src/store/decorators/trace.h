// Trace: a Store that writes down what another is asked and what it answers.
#pragma once
#include "store/store.h"

// Lines go to `logger` at debug level; with a higher level nothing is formatted. Takes over
// `inner`: closing the tracing store closes it.
Store *trace_store_new(Store *inner, const Logger *logger);
