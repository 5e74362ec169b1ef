// Page: what "/" answers, as bytes that are part of the program: the dashboard (ui/), or the plain
// page (page/plain.html) where the build had no npm.
#pragma once
#include <stddef.h>

extern const unsigned char page_html[];
extern const size_t page_html_size;
extern const unsigned char page_html_gzip[]; // the same, compressed
extern const size_t page_html_gzip_size;
extern const char page_html_policy[]; // its Content-Security-Policy
