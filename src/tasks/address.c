// Addresses that http may connect to: those of the public internet.
//
// Everything else (this machine, its links, private networks, metadata services, multicast,
// reserved blocks) is refused, also when an IPv6 address only wraps an IPv4 one. The tables are
// IANA's special-purpose registries.
#include "base/array.h"
#include "tasks/tasks.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

typedef struct Block4 {
    uint32_t address;
    int bits;
} Block4;

static bool is_public_v4(uint32_t address) {
    static const Block4 refused[] = {
        {0x00000000, 8},  // this network
        {0x0A000000, 8},  // private
        {0x64400000, 10}, // shared by carriers
        {0x7F000000, 8},  // loopback
        {0xA9FE0000, 16}, // link-local, and where clouds keep metadata
        {0xAC100000, 12}, // private
        {0xC0000000, 24}, // protocol assignments
        {0xC0000200, 24}, // documentation
        {0xC0586300, 24}, // relays
        {0xC0A80000, 16}, // private
        {0xC6120000, 15}, // benchmarks
        {0xC6336400, 24}, // documentation
        {0xCB007100, 24}, // documentation
        {0xE0000000, 4},  // multicast
        {0xF0000000, 4},  // reserved, broadcast
    };
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        uint32_t mask = UINT32_MAX << (32 - refused[i].bits);
        if ((address & mask) == refused[i].address) return false;
    }
    return true;
}

static uint32_t v4_at(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool starts_with(const uint8_t *bytes, const uint8_t *prefix, size_t len) {
    return memcmp(bytes, prefix, len) == 0;
}

static const uint8_t mapped_prefix[12] = {[10] = 0xFF, [11] = 0xFF}; // IPv4 in IPv6

static bool is_public_v6(const uint8_t *bytes) {
    static const uint8_t translated[12] = {0x00, 0x64, 0xFF, 0x9B}; // NAT64
    if (starts_with(bytes, mapped_prefix, 12) || starts_with(bytes, translated, 12))
        return is_public_v4(v4_at(bytes + 12));
    if ((bytes[0] & 0xE0) != 0x20) return false; // only 2000::/3 is handed out
    if (bytes[0] == 0x20 && bytes[1] == 0x02) return is_public_v4(v4_at(bytes + 2)); // 6to4
    static const uint8_t assignments[2] = {0x20, 0x01};
    if (!starts_with(bytes, assignments, 2)) return true;
    bool is_protocol = bytes[2] < 0x02;                           // 2001::/23: Teredo and its like
    bool is_documentation = bytes[2] == 0x0D && bytes[3] == 0xB8; // 2001:db8::/32
    return !is_protocol && !is_documentation;
}

bool address_is_public(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        return is_public_v4(ntohl(v4.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        return is_public_v6(v6.sin6_addr.s6_addr);
    }
    return false;
}

// ---- blocks that are allowed all the same ----

static void wrap_v4(const struct in_addr *address, uint8_t ret_bytes[16]) {
    memcpy(ret_bytes, mapped_prefix, sizeof mapped_prefix);
    memcpy(ret_bytes + 12, address, 4);
}

bool address_is_in(const struct sockaddr *address, const AddressBlock *block) {
    uint8_t bytes[16];
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        wrap_v4(&v4.sin_addr, bytes);
    } else if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        memcpy(bytes, &v6.sin6_addr, sizeof bytes);
    } else {
        return false;
    }
    size_t whole = (size_t)block->bits / 8;
    if (memcmp(bytes, block->bytes, whole) != 0) return false;
    if (block->bits % 8 == 0) return true;
    int shift = 8 - block->bits % 8;
    return bytes[whole] >> shift == block->bytes[whole] >> shift;
}

static bool parse_bits(Str text, int max, int *ret_bits) {
    int bits = 0;
    if (text.len == 0 || text.len > 3) return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return false;
        bits = bits * 10 + (text.data[i] - '0');
    }
    *ret_bits = bits;
    return bits <= max;
}

Status address_block_parse(Str text, AddressBlock *ret_block, Diag *diag) {
    const char *slash = memchr(text.data, '/', text.len);
    Str host = {text.data, slash != NULL ? (size_t)(slash - text.data) : text.len};
    char name[INET6_ADDRSTRLEN] = "";
    if (host.len < sizeof name) memcpy(name, host.data, host.len);
    struct in_addr v4;
    bool is_v4 = inet_pton(AF_INET, name, &v4) == 1;
    bool is_good = is_v4 || inet_pton(AF_INET6, name, ret_block->bytes) == 1;
    int max = is_v4 ? 32 : 128, bits = max;
    if (is_v4) wrap_v4(&v4, ret_block->bytes);
    if (is_good && slash != NULL)
        is_good = parse_bits((Str){slash + 1, text.len - host.len - 1}, max, &bits);
    ret_block->bits = 128 - max + bits;
    if (is_good) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_ADDRESS",
                    "\"%.*s\" is no address; write 127.0.0.2, 10.1.0.0/16 or fd00::/8",
                    STR_ARG(text));
}
