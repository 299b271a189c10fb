"""A server with a certificate of its own, which no authority has signed."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

from tests.support.smtp_sink import make_certificate
from tests.support.until import PATIENCE_S


@contextlib.contextmanager
def tls_server(folder: Path, days: int) -> Iterator[int]:
    """Shake hands with each caller, with a certificate of so many days; gives the port."""
    context = make_certificate(folder, days).context()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    caller, _ = server.accept()
                    with (
                        caller,
                        contextlib.suppress(OSError),
                        context.wrap_socket(caller, server_side=True) as secured,
                    ):
                        secured.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield int(server.getsockname()[1])
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE_S)
