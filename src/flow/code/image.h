// Image: a compiled module as bytes, kept beside the source for the runs that are parked in it.
//
// A snapshot names instructions, registers and strings of exactly the code it was taken in. A later
// compiler may compile the same source differently, so what this one made of it is kept: whoever
// reads the image back gets the same routines, whatever its own compiler would make.
//
//   "AFI" version [raw size] zstd frame crc:u32
//
// Payload, all numbers varints unless told otherwise:
//
//   hash      SHA-256 of the source, hexadecimal
//   checksum  u32: of the code (code_index.c); what is read back must have the same
//   opcodes   the names of those that are used
//   strings   those the code mentions, in their order
//   workflows name, config, line
//   routines  header, code, tables
//
//   [image-1] Same module, same bytes.
//   [image-2] Opcodes are written by name, unfused: their numbers belong to one build. Operands
//        that are small numbers with a meaning (opcodes.h, ID) are for ever.
//   [image-3] What is read passed the verifier, as if it had just been compiled. Bytes that are no
//        image of the source, are damaged, or use an opcode that this build does not know are
//        refused.
#pragma once
#include "flow/flow.h"

enum { FLOW_IMAGE_VERSION = 1, FLOW_IMAGE_SIZE_MAX = 8 << 20, FLOW_IMAGE_RAW_MAX = 64 << 20 };

// Codes: IMAGE_TOO_LARGE.
MUST_CHECK Status flow_image_write(const FlowModule *module, Buf *ret_image, Diag *diag);
// Codes: IMAGE_CORRUPT, IMAGE_NEWER (made by a build whose code this one cannot run).
MUST_CHECK Status flow_image_read(Str image, Str file_name, Str source, FlowModule **ret_module,
                                  Diag *diag);
