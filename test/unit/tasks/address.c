// Which addresses the http task may connect to.
#include "tasks/tasks.h"
#include "unit/unit.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

static bool is_public(const char *text) {
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return address_is_public((struct sockaddr *)(void *)&v4);
    if (inet_pton(AF_INET6, text, &v6.sin6_addr) != 1) fail_msg("%s is no address", text);
    return address_is_public((struct sockaddr *)(void *)&v6);
}

static void expect_all(const char *const *addresses, bool is_expected) {
    for (; *addresses != NULL; addresses++)
        if (is_public(*addresses) != is_expected)
            fail_msg("%s is%s public", *addresses, is_expected ? " not" : "");
}

static void hosts_of_the_internet_are_public(void **state) {
    (void)state;
    static const char *const addresses[] = {"1.1.1.1",
                                            "8.8.8.8",
                                            "93.184.216.34",
                                            "172.15.255.255",
                                            "172.32.0.0",
                                            "169.253.1.1",
                                            "100.63.255.255",
                                            "100.128.0.0",
                                            "192.167.1.1",
                                            "223.255.255.255",
                                            "2606:4700::11",
                                            "2a00:1450::200e",
                                            "2001:4860:4860::8888",
                                            NULL};
    expect_all(addresses, true);
}

static void machines_nearby_are_not(void **state) {
    (void)state;
    static const char *const addresses[] = {"127.0.0.1",
                                            "127.255.255.254",
                                            "0.0.0.0",
                                            "10.0.0.1",
                                            "172.16.0.1",
                                            "172.31.255.1",
                                            "192.168.1.1",
                                            "169.254.169.254",
                                            "100.64.0.1",
                                            "192.0.0.8",
                                            "192.0.2.1",
                                            "198.18.0.1",
                                            "198.51.100.7",
                                            "203.0.113.9",
                                            "224.0.0.1",
                                            "240.0.0.1",
                                            "255.255.255.255",
                                            "::",
                                            "::1",
                                            "fe80::1",
                                            "fec0::1",
                                            "fc00::1",
                                            "fd12:3456::1",
                                            "ff02::1",
                                            "2001:db8::1",
                                            "2001::1",
                                            "100::1",
                                            NULL};
    expect_all(addresses, false);
}

static void wrapping_an_address_does_not_change_it(void **state) {
    (void)state;
    static const char *const nearby[] = {
        "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::127.0.0.1",        "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::1",   "2002:a00:1::1",   "64:ff9b:1::808:808", NULL};
    static const char *const outside[] = {"::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1",
                                          NULL};
    expect_all(nearby, false);
    expect_all(outside, true);
}

static bool is_in(const char *address, const char *text) {
    AddressBlock block;
    Diag diag;
    assert_ok(address_block_parse(str_from(text), &block, &diag));
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1)
        return address_is_in((struct sockaddr *)(void *)&v4, &block);
    assert_int_equal(inet_pton(AF_INET6, address, &v6.sin6_addr), 1);
    return address_is_in((struct sockaddr *)(void *)&v6, &block);
}

static void a_block_holds_its_addresses(void **state) {
    (void)state;
    assert_true(is_in("10.1.2.3", "10.1.0.0/16"));
    assert_false(is_in("10.2.2.3", "10.1.0.0/16"));
    assert_true(is_in("127.0.0.2", "127.0.0.2"));
    assert_false(is_in("127.0.0.3", "127.0.0.2"));
    assert_true(is_in("172.31.1.1", "172.16.0.0/12"));
    assert_false(is_in("172.32.1.1", "172.16.0.0/12"));
    assert_true(is_in("::ffff:10.1.2.3", "10.1.0.0/16"));
    assert_true(is_in("fd00::7", "fd00::/8"));
    assert_false(is_in("fe80::7", "fd00::/8"));
    assert_false(is_in("::1", "0.0.0.0/0"));
    assert_true(is_in("192.168.0.1", "0.0.0.0/0"));
}

static void what_is_no_block_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",          "x",          "10.0.0",      "10.0.0.0/33",
                                      "10.0.0.0/", "fd00::/129", "10.0.0.0/1x", "10.0.0.0/-1",
                                      "localhost", NULL};
    AddressBlock block;
    Diag diag;
    for (int i = 0; bad[i] != NULL; i++)
        assert_status(address_block_parse(str_from(bad[i]), &block, &diag), ERR_INVALID);
}

static void what_is_no_ip_address_is_refused(void **state) {
    (void)state;
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    assert_false(address_is_public((struct sockaddr *)(void *)&local));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_of_the_internet_are_public),
        cmocka_unit_test(machines_nearby_are_not),
        cmocka_unit_test(wrapping_an_address_does_not_change_it),
        cmocka_unit_test(what_is_no_ip_address_is_refused),
        cmocka_unit_test(a_block_holds_its_addresses),
        cmocka_unit_test(what_is_no_block_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
