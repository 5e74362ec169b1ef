// The status page at "/".
//
// The page holds no data: it fetches what it shows from the API, with a token if the server asks
// for one. Its policy allows the browser nothing but the page's own script and style, by their
// hashes, and requests to this server.
//
// Not here: the page itself (page/status.html), how it gets into the program (tools/embed).
#include "server/routes/page.h"
#include "base/array.h"
#include "server/exchange/exchange.h"

static void send_page(Exchange *exchange) {
    exchange_set_header(exchange, "Content-Security-Policy", str_from(status_page_policy));
    exchange_set_header(exchange, "X-Content-Type-Options", STR("nosniff"));
    exchange_set_header(exchange, "Referrer-Policy", STR("no-referrer"));
    exchange_set_header(exchange, "Cache-Control", STR("no-cache"));
    exchange_send_text(exchange, 200, "text/html; charset=utf-8",
                       (Str){(const char *)status_page, status_page_size});
}

static const RouteAnswer page_answers[] = {{200, "An HTML page.", "text/html"}, {0}};

static const Route routes[] = {
    {"GET", "/", "statusPage", "The status page", SCOPE_NONE, BODY_NONE, NULL, NULL, page_answers,
     NULL, send_page},
};
const RouteTable routes_page = {routes, COUNT_OF(routes)};
