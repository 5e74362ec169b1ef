// Fuzz target: the reader of images.
//
// Input: a byte that names a program (snapshot_programs.h), then patches of the payload of its
// image: where (two bytes), and the byte to put there. Frame and checksum are made to fit, so that
// the reader itself is met.
//
// Properties:
//   [fuzz-image-1] Reading answers OK, or ERR_CORRUPT, ERR_INVALID or ERR_UNSUPPORTED with words.
//   [fuzz-image-2] What was accepted can be shown, and its image can be written.
#include "base/assert.h"
#include "base/containers/bytes.h"
#include "base/containers/hash.h"
#include "base/memory.h"
#include "flow/code/disasm.h"
#include "flow/code/image.h"
#include "fuzz.h"
#include "snapshot_programs.h"
#include <string.h>
#include <zstd.h>

enum { HEAD_SIZE = 4, CRC_SIZE = 4, PATCH_SIZE = 3, TEXT_MAX = 32 << 20 };

static char *payloads[SNAPSHOT_PROGRAM_COUNT];
static size_t sizes[SNAPSHOT_PROGRAM_COUNT];

static void unpack(size_t index) {
    FlowModule *module;
    Diag diag = {0};
    Buf image;
    if (payloads[index]) return;
    Status status =
        flow_compile(STR("p.flow"), str_from(snapshot_programs[index]), &module, NULL, &diag);
    ASSERT(status == OK);
    buf_init(&image, FLOW_IMAGE_SIZE_MAX);
    status = flow_image_write(module, &image, &diag);
    ASSERT(status == OK);
    ByteReader in = bytes_reader((Str){image.data + HEAD_SIZE, image.len - HEAD_SIZE - CRC_SIZE});
    sizes[index] = (size_t)bytes_get_varint(&in);
    payloads[index] = mem_alloc(sizes[index]);
    size_t got = ZSTD_decompress(payloads[index], sizes[index], in.at, bytes_left(&in));
    ASSERT(got == sizes[index]);
    buf_done(&image);
    flow_module_release(module);
}

static void pack(Str payload, Buf *ret_image) {
    size_t bound = ZSTD_compressBound(payload.len);
    char *packed = mem_alloc(bound);
    size_t size = ZSTD_compress(packed, bound, payload.data, payload.len, 1);
    buf_append(ret_image, "AFI", 3);
    bytes_put_u8(ret_image, FLOW_IMAGE_VERSION);
    bytes_put_varint(ret_image, payload.len);
    buf_append(ret_image, packed, size);
    bytes_put_u32(ret_image, crc32c(0, ret_image->data, ret_image->len));
    mem_free(packed);
}

static void look_at(FlowModule *module) { // [fuzz-image-2]
    Buf text;
    Diag diag = {0};
    buf_init(&text, TEXT_MAX);
    flow_disassemble(module, &text);
    buf_clear(&text);
    Status status = flow_image_write(module, &text, &diag);
    ASSERT(status == OK || status == ERR_LIMIT);
    buf_done(&text);
    flow_module_release(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    size_t index = data[0] % SNAPSHOT_PROGRAM_COUNT;
    unpack(index);
    char *payload = mem_alloc(sizes[index]);
    memcpy(payload, payloads[index], sizes[index]);
    for (size_t at = 1; at + PATCH_SIZE <= size; at += PATCH_SIZE)
        payload[(size_t)(data[at] | data[at + 1] << 8) % sizes[index]] = (char)data[at + 2];
    Buf image;
    buf_init(&image, FLOW_IMAGE_SIZE_MAX);
    pack((Str){payload, sizes[index]}, &image);
    mem_free(payload);
    FlowModule *module;
    Diag diag = {0};
    Status status = flow_image_read(buf_str(&image), STR("p.flow"),
                                    str_from(snapshot_programs[index]), &module, &diag);
    buf_done(&image);
    if (status == OK) look_at(module);
    else
        ASSERT(diag.message[0] && (status == ERR_CORRUPT || status == ERR_INVALID ||
                                   status == ERR_UNSUPPORTED)); // [fuzz-image-1]
    return 0;
}
