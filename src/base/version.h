// Which program this is. In one place, so that whatever is linked with it says the same.
#pragma once

extern const char program_version[]; // "0.1.0"
