"""A small TCP proxy in front of a test's server, which can cut connections at chosen moments."""
import socket
import threading


class Proxy:
    """Forwards a port of the loopback interface to a socket file.

    `cut_after` is bytes: the next connection over which they travel to the server is cut once they have
    arrived there, and its answer is lost. `is_down` refuses and cuts everything. `rewrite` is two strings of
    bytes, equally long: what the server says instead of what it said.
    """

    def __init__(self, target):
        self.target = target
        self.lock = threading.Lock()
        self.cut_after = None
        self.is_down = False
        self.rewrite = None
        self.cut_count = 0
        self.pairs = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                if self.is_down:
                    raise OSError("down")
                server.connect(self.target)
            except OSError:
                client.close()
                server.close()
                continue
            pair = (client, server)
            with self.lock:
                self.pairs.add(pair)
            threading.Thread(target=self.forward, args=(pair, True), daemon=True).start()
            threading.Thread(target=self.forward, args=(pair, False), daemon=True).start()

    def take_cut(self, data):
        with self.lock:
            if self.cut_after is None or self.cut_after not in data:
                return False
            self.cut_after = None
            self.cut_count += 1
            return True

    def forward(self, pair, is_upstream):
        source, sink = pair if is_upstream else pair[::-1]
        while True:
            try:
                data = source.recv(1 << 16)
                if not data:
                    break
                if is_upstream and self.take_cut(data):
                    # The client hears nothing any more; the server gets its words all the same.
                    pair[0].shutdown(socket.SHUT_RDWR)
                    sink.sendall(data)
                    break
                if not is_upstream and self.rewrite:
                    data = data.replace(*self.rewrite)
                sink.sendall(data)
            except OSError:
                break
        self.close_pair(pair)

    def close_pair(self, pair):
        with self.lock:
            self.pairs.discard(pair)
        for end in pair:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def cut_all(self):
        with self.lock:
            pairs = list(self.pairs)
        for pair in pairs:
            self.close_pair(pair)

    def close(self):
        self.listener.close()
        self.cut_all()
