// COUNT_OF: how many elements an array has. Of an array only, never of a pointer.
#pragma once

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
