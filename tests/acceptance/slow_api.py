"""A TCP proxy before the API server that is slow, or falls silent; TLS passes through it untouched."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from validation.settings import StackOutputs


class SlowApi:
    """`delay`: seconds that each piece of an answer is late; `silent`: while set, nothing passes at all."""

    def __init__(self, host: str, port: int, delay: float = 0.0) -> None:
        self.delay = delay
        self.silent = threading.Event()
        self.connections = 0
        self._target = (host, port)
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def close(self) -> None:
        """No more connections; those that are open end."""
        self._over.set()
        self._listener.close()
        self._accepting.join(timeout=5)

    def _accept(self) -> None:
        self._listener.settimeout(0.2)
        while not self._over.is_set():
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        there = socket.create_connection(self._target, timeout=5)
        with client, there as server, selectors.DefaultSelector() as ready:
            ready.register(client, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, client)
            while not self._over.is_set():
                for key, _ in ready.select(timeout=0.2):
                    if not self._pass_on(key.fileobj, key.data, late=key.fileobj is server):
                        return

    def _pass_on(self, source: object, target: socket.socket, late: bool) -> bool:
        """One piece; False when a side has ended."""
        assert isinstance(source, socket.socket)
        while self.silent.is_set() and not self._over.is_set():
            time.sleep(0.05)
        try:
            piece = source.recv(65536)
            if not piece:
                return False
            if late:
                time.sleep(self.delay)
            target.sendall(piece)
        except OSError:
            return False
        return True


@contextmanager
def slow(outputs: StackOutputs, folder: Path, delay: float = 0.0) -> Iterator[tuple[SlowApi, str]]:
    """(proxy, a kubeconfig that goes by way of it): same user, same CA, same name in the certificate."""
    config = yaml.safe_load(Path(outputs.kubeconfig).read_text())
    context = next(c["context"] for c in config["contexts"] if c["name"] == outputs.context)
    cluster = next(c["cluster"] for c in config["clusters"] if c["name"] == context["cluster"])
    real = urlsplit(cluster["server"])
    proxy = SlowApi(real.hostname or "", real.port or 443, delay)
    cluster.update({"server": f"https://127.0.0.1:{proxy.port}", "tls-server-name": real.hostname})
    file = folder / "kubeconfig"
    file.touch(mode=0o600)
    file.write_text(yaml.safe_dump(config))
    try:
        yield proxy, str(file)
    finally:
        proxy.close()
