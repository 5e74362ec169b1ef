// Snapshot writer: the walk, the assembly of the sections, compression and limits. The format is
// described in snapshot/format.h.
//
//   roots -> numbers -> bodies, breadth first -> weak entries -> payload -> head, zstd, checksum
//
//   [snapshot-write-1] The VM is as it was: only ropes were flattened and hashes cached, which no
//        script sees.
//   [snapshot-write-2] Entries of weak collections are written when their key is reached otherwise;
//        values may reach further keys, so that is repeated. After WEAK_ROUNDS the rest counts as
//        reached.
//   [snapshot-write-3] A snapshot over the limit is an answer, with the largest variables named.
#include "base/assert.h"
#include "base/containers/hash.h"
#include "base/memory.h"
#include "base/text/hex.h"
#include "flow/snapshot/internal.h"
#include <stdio.h>
#include <zstd.h>

enum { WEAK_ROUNDS = 8, COMPRESSION_LEVEL = 3 };

// --- the walk

static void drain(SnapshotWriter *w) {
    w->out = &w->bodies;
    while (w->next_body < w->nodes.count && !w->is_too_large) {
        uint32_t index = w->next_body;
        size_t before = w->bodies.len + w->shape_bytes.len;
        if (w->is_accounting) {
            w->current = index;
            w->nodes.data[index].edges = (uint32_t)w->edges.count;
        }
        snapshot_write_body(w, index);
        if (w->is_accounting) {
            size_t size = w->bodies.len + w->shape_bytes.len - before + 2;
            w->nodes.data[index].bytes += (uint32_t)size;
        }
        w->next_body++;
        if (w->bodies.is_overflown) w->is_too_large = true;
    }
    w->current = UINT32_MAX;
}

static FlowTable *weak_table(const SnapshotWriter *w, size_t node) {
    const FlowCell *cell = w->nodes.data[node].cell;
    if (cell->kind != KIND_WEAK_MAP && cell->kind != KIND_WEAK_SET) return NULL;
    return flow_as_pointer(((const FlowSlotObject *)cell)->internal[0]);
}

// Gives numbers to the values of entries whose keys have one. True: there were new numbers.
static bool reach_weak(SnapshotWriter *w, bool is_last) {
    size_t before = w->nodes.count;
    Buf scratch;
    buf_init(&scratch, 64);
    for (size_t i = 0; i < w->nodes.count; i++) {
        const FlowTable *table = weak_table(w, i);
        for (uint32_t k = 0; table && k < table->count; k++) {
            const FlowTableEntry *entry = &table->entries[k];
            if (flow_is_hole(entry->key)) continue;
            if (!is_last && !snapshot_has_number(w, entry->key)) continue;
            w->out = &scratch; // only the numbers matter here
            buf_clear(&scratch);
            snapshot_put_value(w, entry->key);
            snapshot_put_value(w, entry->value);
        }
        drain(w);
    }
    buf_done(&scratch);
    return w->nodes.count != before;
}

static void write_weak(SnapshotWriter *w) {
    for (int round = 0; round < WEAK_ROUNDS && reach_weak(w, false);
         round++) { // [snapshot-write-2]
        if (round == WEAK_ROUNDS - 1) reach_weak(w, true);
    }
    w->out = &w->weak;
    for (size_t i = 0; i < w->nodes.count; i++) {
        const FlowTable *table = weak_table(w, i);
        if (!table) continue;
        uint32_t count = 0;
        for (uint32_t k = 0; k < table->count; k++) {
            FlowValue key = table->entries[k].key;
            count += !flow_is_hole(key) && snapshot_has_number(w, key);
        }
        snapshot_put_number(w, count);
        for (uint32_t k = 0; k < table->count; k++) {
            const FlowTableEntry *entry = &table->entries[k];
            if (flow_is_hole(entry->key) || !snapshot_has_number(w, entry->key)) continue;
            snapshot_put_value(w, entry->key);
            snapshot_put_value(w, entry->value);
        }
    }
}

void snapshot_walk(SnapshotWriter *w) {
    snapshot_write_roots(w);
    drain(w);
    write_weak(w);
}

// --- assembly

static bool is_high(uint16_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
static bool is_low(uint16_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

// Bytes as UTF-8; a lone surrogate takes three, as in WTF-8.
static size_t utf8_size(const FlowString *s) {
    size_t size = 0;
    uint32_t length = flow_string_length(s);
    for (uint32_t i = 0; i < length; i++) {
        uint16_t unit = s->wide[i];
        bool is_pair = is_high(unit) && i + 1 < length && is_low(s->wide[i + 1]);
        size += unit < 0x80 ? 1 : unit < 0x800 ? 2 : is_pair ? 4 : 3;
        i += is_pair;
    }
    return size;
}

static void write_text(SnapshotWriter *w, const SnapshotText *text, Buf *out) {
    const FlowString *s = text->string;
    uint64_t length = flow_string_length(s);
    uint64_t is_key = text->is_key;
    w->out = out;
    if (!flow_string_is_wide(s)) {
        snapshot_put_number(w, length << 3 | TEXT_LATIN1 << 1 | is_key);
        buf_append(out, s->latin1, length);
        return;
    }
    size_t size = utf8_size(s);
    if (size < length * 2) {
        snapshot_put_number(w, (uint64_t)size << 3 | TEXT_UTF8 << 1 | is_key);
        flow_string_to_utf8(w->vm, text->string, out);
        return;
    }
    snapshot_put_number(w, length << 3 | TEXT_UTF16 << 1 | is_key);
    for (uint32_t i = 0; i < length; i++) {
        uint8_t bytes[2] = {(uint8_t)s->wide[i], (uint8_t)(s->wide[i] >> 8)};
        buf_append(out, bytes, 2);
    }
}

void snapshot_assemble(SnapshotWriter *w, Buf *out) {
    Buf directory;
    buf_init(&directory, w->raw_max);
    snapshot_write_directory(w, &directory); // its texts need numbers before the texts are written
    snapshot_write_scalars(w, out);
    w->out = out;
    snapshot_put_number(w, w->texts.count);
    for (size_t i = 0; i < w->texts.count; i++) write_text(w, &w->texts.data[i], out);
    w->out = out;
    snapshot_put_number(w, w->shapes.count);
    buf_append_str(out, buf_str(&w->shape_bytes));
    buf_append_str(out, buf_str(&directory));
    buf_append_str(out, buf_str(&w->bodies));
    buf_append_str(out, buf_str(&w->roots));
    buf_append_str(out, buf_str(&w->weak));
    w->is_too_large |= directory.is_overflown || w->shape_bytes.is_overflown ||
                       w->roots.is_overflown || w->weak.is_overflown || out->is_overflown;
    buf_done(&directory);
}

// --- head, compression, checksum

static void append_head(const SnapshotWriter *w, uint32_t flags, Buf *out) {
    const FlowModule *module = w->vm->module;
    buf_append(out, SNAPSHOT_MAGIC, SNAPSHOT_MAGIC_SIZE);
    bytes_put_u8(out, SNAPSHOT_VERSION);
    bytes_put_u8(out, (uint8_t)flags);
    for (uint32_t i = 0; i < SNAPSHOT_HASH_SIZE; i++) {
        int byte = hex_byte(module->hash + i * 2);
        ASSERT(byte >= 0);
        bytes_put_u8(out, (uint8_t)byte);
    }
    bytes_put_u32(out, module->code_checksum);
    if (flags & SNAPSHOT_HAS_PRELUDE) bytes_put_u32(out, w->vm->realm->prelude->code_checksum);
}

// The payload as one zstd frame; false when that is not shorter.
static bool compress(Str payload, Buf *out) {
    if (payload.len < SNAPSHOT_COMPRESS_MIN) return false;
    size_t room = ZSTD_compressBound(payload.len);
    char *bytes = mem_alloc(room);
    size_t size = ZSTD_compress(bytes, room, payload.data, payload.len, COMPRESSION_LEVEL);
    bool is_shorter = !ZSTD_isError(size) && size + 8 < payload.len;
    if (is_shorter) {
        bytes_put_varint(out, payload.len);
        buf_append(out, bytes, size);
    }
    mem_free(bytes);
    return is_shorter;
}

static void append_all(const SnapshotWriter *w, Str payload, Buf *out) {
    Buf packed;
    buf_init(&packed, SIZE_MAX / 2);
    bool is_compressed = compress(payload, &packed);
    uint32_t flags =
        (is_compressed ? SNAPSHOT_COMPRESSED : 0u) | (w->has_prelude ? SNAPSHOT_HAS_PRELUDE : 0u);
    size_t start = out->len;
    append_head(w, flags, out);
    buf_append_str(out, is_compressed ? buf_str(&packed) : payload);
    if (!out->is_overflown) bytes_put_u32(out, crc32c(0, out->data + start, out->len - start));
    buf_done(&packed);
}

static Status too_large(FlowVm *vm, const FlowRewrite *rewrite,
                        Diag *diag) { // [snapshot-write-3]
    char largest[256];
    SnapshotWriter writer;
    snapshot_writer_init(&writer, vm, true);
    writer.rewrite = rewrite;
    snapshot_walk(&writer);
    snapshot_name_largest(&writer, largest, sizeof largest);
    snapshot_writer_done(&writer);
    return diag_set(diag, ERR_LIMIT, "SNAPSHOT_TOO_LARGE",
                    "the state of the run is larger than %u bytes; the largest variables: %s",
                    vm->limits.snapshot_bytes, *largest ? largest : "none has a name");
}

void flow_snapshot_visit(FlowVm *vm, const FlowRewrite *rewrite, FlowVisitor visitor) {
    SnapshotWriter writer;
    snapshot_writer_init(&writer, vm, false);
    writer.rewrite = rewrite;
    snapshot_walk(&writer);
    for (size_t i = 0; i < writer.nodes.count; i++)
        visitor.visit(visitor.context, writer.nodes.data[i].cell);
    snapshot_writer_done(&writer);
}

Status flow_snapshot_write(FlowVm *vm, Buf *ret_bytes, Diag *diag) {
    return flow_snapshot_rewrite(vm, NULL, ret_bytes, diag);
}

Status flow_snapshot_rewrite(FlowVm *vm, const FlowRewrite *rewrite, Buf *ret_bytes, Diag *diag) {
    SnapshotWriter writer;
    snapshot_writer_init(&writer, vm, false);
    writer.rewrite = rewrite;
    snapshot_walk(&writer);
    Buf payload;
    buf_init(&payload, writer.raw_max);
    buf_reserve(&payload, 512);
    if (!writer.is_too_large) snapshot_assemble(&writer, &payload);
    bool is_too_large = writer.is_too_large;
    bool has_unnamed = writer.has_unnamed;
    if (!is_too_large && !has_unnamed) {
        size_t start = ret_bytes->len;
        append_all(&writer, buf_str(&payload), ret_bytes);
        is_too_large =
            ret_bytes->is_overflown || ret_bytes->len - start > vm->limits.snapshot_bytes;
        if (is_too_large) ret_bytes->len = start;
    }
    buf_done(&payload);
    vm->place = flow_place_number(&writer.places);
    snapshot_writer_done(&writer);
    if (is_too_large) return too_large(vm, rewrite, diag);
    if (has_unnamed) {
        return diag_set(diag, ERR_UNSUPPORTED, "SNAPSHOT_UNNAMED",
                        "the run holds a built-in object that has no name; please report this");
    }
    return OK;
}
