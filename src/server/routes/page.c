// The dashboard at "/".
//
// The page holds no data: it fetches what it shows from the API, with a token if the server asks
// for one. Its policy allows the browser nothing but the page's own script and style, by their
// hashes, and requests to this server.
//
// Not here: the page itself (ui/, or page/plain.html), how it gets into the program
// (tools/dashboard, tools/embed).
#include "server/routes/page.h"
#include "base/array.h"
#include "server/exchange/exchange.h"

// Whether the client names gzip among the codings it accepts. One that adds a weight gets the page
// as it is, which every client accepts.
static bool accepts_gzip(const Exchange *exchange) {
    Str left = exchange_header(exchange, "Accept-Encoding"), piece;
    while (str_split(&left, ',', &piece))
        if (str_equal(str_trim(piece), STR("gzip"))) return true;
    return false;
}

static void send_page(Exchange *exchange) {
    exchange_set_header(exchange, "Content-Security-Policy", str_from(page_html_policy));
    exchange_set_header(exchange, "X-Content-Type-Options", STR("nosniff"));
    exchange_set_header(exchange, "Referrer-Policy", STR("no-referrer"));
    exchange_set_header(exchange, "Cache-Control", STR("no-cache"));
    exchange_set_header(exchange, "Vary", STR("Accept-Encoding"));
    Str page = {(const char *)page_html, page_html_size};
    if (accepts_gzip(exchange)) {
        exchange_set_header(exchange, "Content-Encoding", STR("gzip"));
        page = (Str){(const char *)page_html_gzip, page_html_gzip_size};
    }
    exchange_send_text(exchange, 200, "text/html; charset=utf-8", page);
}

static const RouteAnswer page_answers[] = {{200, "An HTML page.", "text/html"}, {0}};

static const Route routes[] = {
    {"GET", "/", "dashboard", "The dashboard", SCOPE_NONE, BODY_NONE, NULL, NULL, page_answers,
     NULL, send_page},
};
const RouteTable routes_page = {routes, COUNT_OF(routes)};
