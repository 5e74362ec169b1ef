// Snapshot writer, values: every reference to something shared becomes a small number here.
//
//   [write-value-1] A cell gets its number when it is met first, and is queued to be written later:
//        no recursion, however deep the data.
//   [write-value-2] Strings have no identity, so equal texts are one text; those the module has as
//        constants are named by its number.
//   [write-value-3] Cells found by a hash of their address; the order of numbers does not depend on
//        it.
#include "base/assert.h"
#include "base/memory.h"
#include "flow/snapshot/internal.h"

enum { SLOTS_FIRST = 256, TEXT_SLOTS_FIRST = 64 };

void snapshot_writer_init(SnapshotWriter *w, FlowVm *vm, bool is_accounting) {
    *w = (SnapshotWriter){.vm = vm, .is_accounting = is_accounting, .current = UINT32_MAX};
    size_t limit = (size_t)vm->limits.snapshot_bytes * SNAPSHOT_RAW_FACTOR;
    w->raw_max = is_accounting ? SIZE_MAX / 2 : limit;
    w->slot_capacity = SLOTS_FIRST;
    w->slots = mem_zalloc(w->slot_capacity * sizeof *w->slots);
    w->text_capacity = TEXT_SLOTS_FIRST;
    w->text_slots = mem_zalloc(w->text_capacity * sizeof *w->text_slots);
    buf_init(&w->shape_bytes, w->raw_max);
    buf_init(&w->bodies, w->raw_max);
    buf_init(&w->roots, w->raw_max);
    buf_init(&w->weak, w->raw_max);
    buf_reserve(&w->shape_bytes, 256);
    buf_reserve(&w->bodies, 512);
    buf_reserve(&w->roots, 256);
    w->out = &w->roots;
}

void snapshot_writer_done(SnapshotWriter *w) {
    vec_free(&w->nodes);
    vec_free(&w->shapes);
    vec_free(&w->texts);
    vec_free(&w->edges);
    mem_free(w->slots);
    mem_free(w->text_slots);
    buf_done(&w->shape_bytes);
    buf_done(&w->bodies);
    buf_done(&w->roots);
    buf_done(&w->weak);
}

// --- numbers of cells [write-value-3]

static uint32_t slot_of(const SnapshotWriter *w, const void *cell) {
    uint32_t mask = w->slot_capacity - 1;
    uint64_t address = (uint64_t)(uintptr_t)cell;
    uint32_t i = (uint32_t)((address >> 4) * 0x9E3779B97F4A7C15ull >> 32) & mask;
    while (w->slots[i].cell && w->slots[i].cell != cell) i = (i + 1) & mask;
    return i;
}

static void slots_grow(SnapshotWriter *w) {
    SnapshotSlot *old = w->slots;
    uint32_t old_capacity = w->slot_capacity;
    w->slot_capacity *= 2;
    w->slots = mem_zalloc(w->slot_capacity * sizeof *w->slots);
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (old[i].cell) w->slots[slot_of(w, old[i].cell)] = old[i];
    }
    mem_free(old);
}

static void slot_take(SnapshotWriter *w, uint32_t slot, const void *cell, uint32_t index) {
    w->slots[slot] = (SnapshotSlot){cell, index};
    if (++w->slot_count * 2 > w->slot_capacity) slots_grow(w);
}

static uint32_t node_index(SnapshotWriter *w, FlowCell *cell) {
    uint32_t slot = slot_of(w, cell);
    uint32_t index = w->slots[slot].index;
    if (!w->slots[slot].cell) {
        index = (uint32_t)w->nodes.count;
        vec_push(&w->nodes, (SnapshotNode){.cell = cell}); // [write-value-1]
        slot_take(w, slot, cell, index);
        // A node takes two bytes at least; this ends walks that can only fail.
        if (w->nodes.count > w->raw_max / 2) w->is_too_large = true;
    }
    if (w->is_accounting && w->current != UINT32_MAX) vec_push(&w->edges, index);
    return index;
}

uint32_t snapshot_shape_index(SnapshotWriter *w, const FlowShape *shape) {
    uint32_t slot = slot_of(w, shape);
    if (w->slots[slot].cell) return w->slots[slot].index;
    uint32_t index = (uint32_t)w->shapes.count;
    vec_push(&w->shapes, shape);
    slot_take(w, slot, shape, index);
    Buf *out = w->out;
    w->out = &w->shape_bytes;
    snapshot_write_shape(w, shape);
    w->out = out;
    return index;
}

bool snapshot_has_number(const SnapshotWriter *w, FlowValue value) {
    if (!flow_is_heap(value) || flow_is_string(value)) return true;
    const FlowCell *cell = flow_as_cell(value);
    return cell->flags & CELL_SHARED || w->slots[slot_of(w, cell)].cell;
}

bool snapshot_find_node(const SnapshotWriter *w, const FlowCell *cell, uint32_t *ret_index) {
    const SnapshotSlot *slot = &w->slots[slot_of(w, cell)];
    *ret_index = slot->index;
    return slot->cell && !(cell->flags & CELL_SHARED && cell->kind != KIND_BIGINT);
}

// --- texts [write-value-2]

static bool same_text(const FlowString *a, const FlowString *b) {
    if (a == b) return true;
    if (a->hash != b->hash || a->cell.aux != b->cell.aux) return false;
    if (flow_string_is_wide(a) != flow_string_is_wide(b)) return false;
    return memcmp(a->latin1, b->latin1, (size_t)a->cell.aux << flow_string_is_wide(a)) == 0;
}

static uint32_t text_slot(const SnapshotWriter *w, const FlowString *flat) {
    ASSERT(w->texts.count < w->text_capacity); // there is a free slot
    uint32_t mask = w->text_capacity - 1;
    uint32_t i = flat->hash & mask;
    while (w->text_slots[i] && !same_text(w->texts.data[w->text_slots[i] - 1].string, flat)) {
        i = (i + 1) & mask;
    }
    return i;
}

static void texts_grow(SnapshotWriter *w) {
    mem_free(w->text_slots);
    w->text_capacity *= 2;
    w->text_slots = mem_zalloc(w->text_capacity * sizeof *w->text_slots);
    for (uint32_t i = 0; i < w->texts.count; i++) {
        w->text_slots[text_slot(w, w->texts.data[i].string)] = i + 1;
    }
}

uint32_t snapshot_text_index(SnapshotWriter *w, FlowString *flat, bool is_key) {
    flow_string_hash(flat);
    uint32_t slot = text_slot(w, flat);
    uint32_t index = w->text_slots[slot];
    if (!index) {
        vec_push(&w->texts, (SnapshotText){flat, is_key});
        index = w->text_slots[slot] = (uint32_t)w->texts.count;
        size_t size = (size_t)flow_string_length(flat) + 2;
        w->text_bytes += size;
        if (w->text_bytes > w->raw_max) w->is_too_large = true;
        bool is_counted = w->is_accounting && w->current != UINT32_MAX;
        if (is_counted) w->nodes.data[w->current].bytes += (uint32_t)size;
        if (w->texts.count * 2 > w->text_capacity) texts_grow(w);
    }
    ASSERT(index <= w->texts.count);
    w->texts.data[index - 1].is_key |= is_key;
    return index - 1;
}

// --- values

static void put_index(SnapshotWriter *w, uint8_t small, uint8_t large, uint32_t index) {
    if (index < SMALL_INDEX_COUNT) {
        buf_append_char(w->out, (char)(small + index));
    } else {
        buf_append_char(w->out, (char)large);
        snapshot_put_number(w, index);
    }
}

static void put_int(SnapshotWriter *w, int32_t value) {
    if (value >= SMALL_INT_MIN && value <= SMALL_INT_MAX) {
        buf_append_char(w->out, (char)(TAG_SMALL_INT + value - SMALL_INT_MIN));
    } else {
        buf_append_char(w->out, TAG_INT);
        bytes_put_zigzag(w->out, value);
    }
}

// Prices and times are shorter as whole numbers, where that is exact.
static void put_double(SnapshotWriter *w, double value) {
    static const double powers[4] = {1, 10, 100, 1000};
    static const uint8_t tags[4] = {TAG_WHOLE, TAG_DECIMAL_1, TAG_DECIMAL_2, TAG_DECIMAL_3};
    const double exact = 9007199254740992.0; // 2^53
    for (int i = 0; value != 0 && fabs(value) <= exact && i < 4; i++) {
        double scaled = rint(value * powers[i]);
        if (fabs(scaled) > exact || scaled / powers[i] != value) continue;
        buf_append_char(w->out, (char)tags[i]);
        bytes_put_zigzag(w->out, (int64_t)scaled);
        return;
    }
    buf_append_char(w->out, TAG_DOUBLE);
    bytes_put_f64(w->out, value);
}

static void put_string(SnapshotWriter *w, FlowString *s) {
    // Ropes far beyond what fits need not be flattened to know that.
    if (flow_string_length(s) > w->raw_max) {
        w->is_too_large = true;
        return;
    }
    FlowString *flat = flow_string_flat(w->vm, s);
    uint32_t constant = flow_module_string_number(w->vm->module, flat);
    if (constant != UINT32_MAX) {
        put_index(w, TAG_SMALL_CONSTANT, TAG_CONSTANT, constant);
    } else {
        put_index(w, TAG_SMALL_STRING, TAG_STRING, snapshot_text_index(w, flat, false));
    }
}

// The number of a shared thing: a realm object or symbol, or the entry of a native.
static uint32_t realm_number(SnapshotWriter *w, const void *thing) {
    uint32_t slot = slot_of(w, thing);
    if (w->slots[slot].cell) return w->slots[slot].index;
    SnapshotRealmRef ref;
    uint32_t number = 0;
    if (!snapshot_realm_name(thing, &ref)) {
        w->has_unnamed = true;
    } else if (ref.number != UINT32_MAX) {
        number = ref.number * 2;
    } else {
        FlowString *path = flow_string_utf8(w->vm, ref.path);
        number = snapshot_text_index(w, path, false) * 2 + 1;
        w->has_prelude |= ref.is_prelude;
    }
    slot_take(w, slot, thing, number);
    return number;
}

void snapshot_put_realm(SnapshotWriter *w, const void *thing) {
    snapshot_put_number(w, realm_number(w, thing));
}

static void put_cell(SnapshotWriter *w, FlowCell *cell) {
    if (cell->flags & CELL_SHARED && cell->kind != KIND_BIGINT) {
        buf_append_char(w->out, TAG_REALM);
        snapshot_put_realm(w, cell);
        return;
    }
    if (snapshot_node_kind(cell) == NODE_KIND_COUNT) {
        // Opaque bytes and other memory of a built-in: it can make them again (heap.h).
        buf_append_char(w->out, TAG_UNDEFINED);
        return;
    }
    put_index(w, TAG_SMALL_NODE, TAG_NODE, node_index(w, cell));
}

void snapshot_put_value(SnapshotWriter *w, FlowValue value) {
    if (flow_is_int(value)) {
        put_int(w, flow_as_int(value));
    } else if (flow_is_double(value)) {
        put_double(w, flow_as_double(value));
    } else if (flow_is_string(value)) {
        put_string(w, flow_as_string(value));
    } else if (flow_is_heap(value)) {
        put_cell(w, flow_as_cell(value));
    } else {
        static const uint8_t tags[] = {TAG_UNDEFINED, TAG_NULL, TAG_FALSE, TAG_TRUE, TAG_HOLE};
        uint64_t which = value.bits & VALUE_PAYLOAD_MASK;
        ASSERT(which < sizeof tags);
        buf_append_char(w->out, (char)tags[which]);
    }
}

void snapshot_put_object(SnapshotWriter *w, const void *object) {
    if (object) put_cell(w, (FlowCell *)(uintptr_t)object);
    else buf_append_char(w->out, TAG_NULL);
}
