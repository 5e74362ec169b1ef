// ASSERT: our own bugs stop the process at once, in release builds too.
#pragma once

#define ASSERT(condition)                                                                          \
    ((condition) ? (void)0 : assert_failed(#condition, __FILE__, __LINE__, __func__))
#define UNREACHABLE() assert_failed("unreachable", __FILE__, __LINE__, __func__)

_Noreturn void assert_failed(const char *text, const char *file, int line, const char *function);
// What every allocation failure ends in.
_Noreturn void out_of_memory(void);
