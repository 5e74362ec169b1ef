// The head of an answer costs what its bytes cost; where a redirect leads decides what goes along.
#include "tasks/http.h"
#include "base/array.h"
#include "tasks/http_head.h"
#include "unit/unit.h"

static void feed(HttpHead *head, const char *line) {
    assert_true(http_head_line(head, str_from(line)));
}

static void fields_of_one_name_are_joined_once(void **state) {
    (void)state;
    Arena arena;
    HttpHead head;
    arena_init(&arena);
    http_head_init(&head, &arena);
    feed(&head, "HTTP/1.1 100 Continue\r\n");
    feed(&head, "X-Old: 1\r\n");
    feed(&head, "HTTP/1.1 302 Found\r\n");
    feed(&head, "Set-Cookie: a\r\n");
    feed(&head, "no colon\r\n");
    feed(&head, "SET-COOKIE:  b \r\n");
    feed(&head, "set-cookie:\r\n");
    feed(&head, "\r\n");
    assert_int_equal(head.status, 302);
    assert_true(str_equal(http_head_value(&head, STR("set-cookie")), STR("a, b, ")));
    assert_true(str_is_null(http_head_value(&head, STR("x-old"))));
    http_head_done(&head);
    arena_done(&arena);
}

// 255 KB of one name, of all different names, and of empty lines with a colon.
static void memory_grows_with_the_bytes_that_came(void **state) {
    (void)state;
    for (int form = 0; form < 3; form++) {
        Arena arena;
        HttpHead head;
        Buf text;
        JsonWriter writer;
        arena_init(&arena);
        http_head_init(&head, &arena);
        size_t count = 0;
        char line[64];
        do {
            size_t n = count++ % 10000;
            if (form == 0) snprintf(line, sizeof line, "a: %04zu\r\n", n);
            else if (form == 1) snprintf(line, sizeof line, "a%04zu: \r\n", n);
            else snprintf(line, sizeof line, ":\r\n");
        } while (http_head_line(&head, str_from(line)));
        assert_in_range(head.byte_count, HTTP_HEAD_MAX, HTTP_HEAD_MAX + sizeof line);
        buf_init(&text, 8 << 20);
        json_writer_init(&writer, &text, STR_NULL);
        http_head_write(&head, &writer);
        assert_false(text.is_overflown);
        assert_true(arena.used_size < 64u * HTTP_HEAD_MAX); // quadratic: 3 GB
        buf_done(&text);
        http_head_done(&head);
        arena_done(&arena);
    }
}

static void only_safe_headers_leave_the_origin(void **state) {
    (void)state;
    Diag diag;
    const Curl *curl = curl_get(&diag);
    assert_non_null(curl);
    static const struct {
        const char *from, *to;
        bool is_foreign;
    } cases[] = {
        {"http://a.example/x", "http://a.example/y?z", false},
        {"http://a.example/x", "http://A.EXAMPLE:80/y", false},
        {"https://a.example:443/x", "https://a.example/", false},
        {"http://a.example/x", "https://a.example/x", true},
        {"http://a.example/x", "http://a.example:8080/x", true},
        {"http://a.example/x", "http://b.a.example/x", true},
        {"http://a.example/x", "http://a.example.b/x", true},
        {"http://a.example/x", "http://a.example@b.example/x", true},
        {"http://a.example/x", "not a url", true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        HttpHop hop = {.url = str_from(cases[i].from), .method = STR("GET")};
        http_hop_follow(curl, &hop, 302, str_from(cases[i].to));
        assert_int_equal(hop.is_foreign, cases[i].is_foreign);
        assert_int_equal(http_hop_sends(&hop, STR("X-Api-Key")), !cases[i].is_foreign);
        assert_int_equal(http_hop_sends(&hop, STR("authorization")), !cases[i].is_foreign);
        assert_true(http_hop_sends(&hop, STR("ACCEPT")));
    }
}

static void a_request_that_becomes_a_get_has_no_body(void **state) {
    (void)state;
    Diag diag;
    const Curl *curl = curl_get(&diag);
    static const struct {
        const char *method;
        long status;
        const char *then;
    } cases[] = {
        {"POST", 301, "GET"}, {"POST", 302, "GET"}, {"POST", 303, "GET"},  {"POST", 307, "POST"},
        {"PUT", 301, "PUT"},  {"PUT", 303, "GET"},  {"HEAD", 303, "HEAD"}, {"PUT", 308, "PUT"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        HttpHop hop = {.url = STR("http://a.example/"),
                       .method = str_from(cases[i].method),
                       .body = STR("body")};
        http_hop_follow(curl, &hop, cases[i].status, STR("http://a.example/b"));
        assert_true(str_equal(hop.method, str_from(cases[i].then)));
        bool is_get = strcmp(cases[i].then, "GET") == 0;
        assert_int_equal(str_is_null(hop.body), is_get);
        assert_int_equal(http_hop_sends(&hop, STR("Content-Type")), !is_get);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_one_name_are_joined_once),
        cmocka_unit_test(memory_grows_with_the_bytes_that_came),
        cmocka_unit_test(only_safe_headers_leave_the_origin),
        cmocka_unit_test(a_request_that_becomes_a_get_has_no_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
