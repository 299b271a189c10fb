"""A request whose sender is admitted, and whose body comes when a test lets it."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.support.service import Service

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass(frozen=True)
class HalfSent:
    """A request whose sender was admitted: the service asked for its body."""

    talk: socket.socket
    body: bytes

    def rest(self) -> tuple[int, str]:
        """Send the body; gives the status and the error code of the answer."""
        self.talk.sendall(self.body)
        said = b""
        while more := self.talk.recv(65536):
            said += more
        head, _, body = said.partition(b"\r\n\r\n")
        return int(head.split()[1]), str(json.loads(body).get("errorCode", ""))


@contextmanager
def request_half_sent(
    service: Service, path: str, content: bytes, **headers: str
) -> Iterator[HalfSent]:
    """Send the head of a request with a body of JSON, and wait until its body is asked for."""
    lines = {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}
    lines |= {"Host": "x", "Connection": "close", "Expect": "100-continue"}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    port = urlsplit(service.root).port
    with socket.create_connection(("127.0.0.1", port), 30) as talk:
        talk.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode())
        said = b""
        while len(said) < len(_CONTINUE) and (more := talk.recv(len(_CONTINUE) - len(said))):
            said += more
        assert said == _CONTINUE, said
        yield HalfSent(talk, content)
