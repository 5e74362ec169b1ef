// Image format: what writer and reader share. See image.h.
#pragma once
#include "flow/code/image.h"

enum { IMAGE_MAGIC_SIZE = 3, IMAGE_CRC_SIZE = 4 };
#define IMAGE_MAGIC "AFI"

enum { // the first byte of a value
    IMAGE_UNDEFINED,
    IMAGE_NULL,
    IMAGE_FALSE,
    IMAGE_TRUE,
    IMAGE_HOLE,
    IMAGE_INT,
    IMAGE_DOUBLE,
    IMAGE_STRING,
    IMAGE_BIGINT,
};
