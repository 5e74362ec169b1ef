// Advice: what to do on the command line about an answer of the library, which knows no flags.
#pragma once
#include "base/diag.h"

// Appends "; what to do" to the message, where there is something to be said for its code.
void advice_add(Diag *diag);
