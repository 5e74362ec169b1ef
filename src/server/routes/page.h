// Page: the status page, a single file that is part of the program (page/status.html).
#pragma once
#include <stddef.h>

extern const unsigned char status_page[];
extern const size_t status_page_size;
extern const char status_page_policy[]; // its Content-Security-Policy
