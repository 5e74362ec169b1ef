"""Hostile inputs by the number: bytes that a client might send to do harm, each from its seed.

A kind is a function of a random generator; it answers a list of steps, what to send on one connection
in order. Nothing here knows what the server should answer: whoever uses it looks whether the server is
still there, answers the others, and has not grown."""
import json
import random

HOST = b"Host: localhost\r\n"
METHODS = [b"GET", b"POST", b"PUT", b"DELETE", b"HEAD", b"OPTIONS", b"TRACE", b"get", b"G\0T", b"\x80"]
PATHS = [b"/livez", b"/v1/runs", b"/v1/runs?wait=0", b"/v1/events/x", b"/v1/tasks/claim", b"/handlers",
         b"/v1/tasks/complete", b"/workflows/x/run", b"/v1/runs/x/events", b"/events/x", b"/", b"*",
         b"/openapi.json", b"/v1/workflows/x", b"/v1/runs/%00", b"/" + b"a/" * 2000, b"//", b"/%ff",
         b"/v1/runs?" + b"status=running&" * 150, b"http://localhost/livez", b""]
VALUES = [b"", b" ", b"0", b"1", b"-1", b"+5", b" 5", b"5 ", b"0x5", b"5,5", b"5;5", b"18446744073709551616",
          b"9223372036854775807", b"chunked", b"chunked, chunked", b"gzip", b"identity", b"\x0bchunked",
          b"close", b"keep-alive", b"100-continue", b"localhost", b"bad host", b"user@localhost", b"[::1",
          b"Bearer abide_" + b"x" * 60, b"a\0b", b"\x1b[2J", b"\xff\xfe", b"x" * 3000, b"'\"<>;--", b"%s%n%d"]
NAMES = [b"Content-Length", b"Transfer-Encoding", b"Host", b"Connection", b"Expect", b"Authorization",
         b"Origin", b"Idempotency-Key", b"Last-Event-ID", b"traceparent", b"tracestate", b"Content-Type",
         b"Upgrade", b"TE", b"Trailer", b"Range", b"Cookie", b"X", b"X-" + b"y" * 500, b"Content Length",
         b"", b"\0", b":", b"Content-Length\t", b"transfer-encoding", b"Sec-WebSocket-Key"]
ENDS = [b"\r\n"] * 12 + [b"\n", b"\r", b"\r\r\n", b"\n\r", b"", b"\0\r\n", b"\r\n "]
JSON_PIECES = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u0000", b"\\ud800", b"null", b"true",
               b"1e999", b"-", b"0" * 50, b'"worker"', b'"workflow"', b'"results"', b'"input"', b"\xff", b"\0"]


def header_lines(r, most=12):
    lines = b""
    for _ in range(r.randrange(most)):
        lines += r.choice(NAMES) + r.choice([b":", b": ", b" : ", b":\t", b"", b"::"]) + r.choice(VALUES) \
            + r.choice(ENDS)
    return lines


def first_line(r):
    return r.choice(METHODS) + r.choice([b" "] * 8 + [b"  ", b"\t", b""]) + r.choice(PATHS) + \
        r.choice([b" HTTP/1.1"] * 8 + [b" HTTP/1.0", b" HTTP/2.0", b" HTTP/1.1 ", b"", b" HTTP/1.1\0", b" XTTP/1.1"]) \
        + r.choice(ENDS)


def in_pieces(r, data):
    """The same bytes in one to five writes."""
    cuts = sorted(r.randrange(len(data) + 1) for _ in range(r.randrange(5)))
    return [data[a:b] for a, b in zip([0] + cuts, cuts + [len(data)])]


def heads(r):
    return in_pieces(r, first_line(r) + (HOST if r.random() < 0.8 else b"") + header_lines(r) + b"\r\n")


def lengths(r):
    """A body, and what is said of its length."""
    body = r.choice([b"1", b"[1,2,3]", b"x" * r.randrange(9000), b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n"])
    said = [b"Content-Length: %d" % len(body), b"Content-Length: %d" % r.randrange(20),
            b"Content-Length:\r\n %d" % len(body), b"Content-Length: 1\r\n 0", b"Transfer-Encoding: chunked",
            b"Transfer-Encoding:\r\n chunked", b"Content-Length: " + r.choice(VALUES),
            b"Transfer-Encoding: " + r.choice(VALUES)]
    lines = [r.choice(said) for _ in range(r.randrange(1, 4))]
    return in_pieces(r, b"POST " + r.choice(PATHS[:10]) + b" HTTP/1.1\r\n" + HOST
                     + b"".join(line + r.choice(ENDS) for line in lines) + b"\r\n" + body)


def chunks(r):
    data = b"POST " + r.choice(PATHS[:10]) + b" HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
    for _ in range(r.randrange(8)):
        piece = bytes(r.randrange(256) for _ in range(r.randrange(40)))
        size = r.choice([b"%x" % len(piece)] * 6 + [b"%X" % (len(piece) + 1), b"+%x" % len(piece), b"-1", b"0x4", b"",
                        b"f" * 15, b"f" * 17, b"0" * 30 + b"%x" % len(piece), b" 4", b"4 ", b"4;" + b"e" * 9000])
        data += size + r.choice([b"", b";a=b", b';a="\r\n"']) + r.choice(ENDS) + piece + r.choice(ENDS)
    data += b"0\r\n" + (header_lines(r, 4) if r.random() < 0.5 else b"") + b"\r\n"
    return in_pieces(r, data + b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n")


def bodies(r):
    """JSON of all sorts to routes that read some."""
    sort = r.randrange(4)
    if sort == 0:
        body = b"".join(r.choice(JSON_PIECES) for _ in range(r.randrange(200)))
    elif sort == 1:
        body = r.choice([b"[", b'{"a":', b"[[],"]) * r.randrange(3000)
    elif sort == 2:
        body = json.dumps({r.choice(["worker", "workflow", "results", "tasks", "start_event", "event", "x"]):
                           r.choice([None, "x" * r.randrange(5000), [1] * r.randrange(5000), {}, -1, 1e308])
                           for _ in range(4)}).encode()
    else:
        body = bytes(r.randrange(256) for _ in range(r.randrange(2000)))
    path = r.choice([b"/v1/runs", b"/v1/tasks/claim", b"/v1/tasks/complete", b"/v1/tasks/heartbeat",
                     b"/workflows/x/run", b"/events/x", b"/v1/events/x", b"/v1/check", b"/livez"])
    return in_pieces(r, b"POST " + path + b" HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body) + body)


def noise(r):
    data = bytes(r.randrange(256) for _ in range(r.randrange(3000)))
    return in_pieces(r, r.choice([b"", b"\r\n" * 50, b"\x16\x03\x01\x02\x00", b"GET /livez HTTP/1.1\r\n"]) + data)


def mutated(r):
    """A good request with a few bytes changed, dropped or doubled."""
    body = b'{"worker":"w","queues":["nothing"],"max":1}'
    data = bytearray(b"POST /v1/tasks/claim HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
                     b"Content-Length: %d\r\n\r\n" % len(body) + body)
    for _ in range(r.randrange(1, 6)):
        at = r.randrange(len(data))
        what = r.randrange(3)
        if what == 0:
            data[at] = r.randrange(256)
        elif what == 1:
            del data[at]
        else:
            data[at:at] = bytes([data[at]]) * r.randrange(1, 30)
    return in_pieces(r, bytes(data))


def floods(r):
    """Much of the same: requests in a row, headers, empty lines, little chunks."""
    count = r.randrange(50, 400)
    what = r.randrange(5)
    if what == 0:
        data = (b"GET " + r.choice(PATHS[:13]) + b" HTTP/1.1\r\n" + HOST + b"\r\n") * count
    elif what == 1:
        data = b"GET /livez HTTP/1.1\r\n" + HOST + b"A: b\r\n" * count * 10 + b"\r\n"
    elif what == 2:
        data = b"\r\n" * count * 20 + b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n"
    elif what == 3:
        data = b"POST /v1/events/x HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n1\r\n" * count * 10
    else:
        body = b'{"worker":"f","queues":["flood"],"wait":"60s"}'
        data = (b"POST /v1/tasks/claim HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body) + body) * 20
    return in_pieces(r, data)


KINDS = (heads, lengths, chunks, bodies, noise, mutated, floods)


def steps(seed):
    r = random.Random(seed)
    return KINDS[seed % len(KINDS)](r)
