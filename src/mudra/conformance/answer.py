"""An answer of what is checked: read once, of bounded size, never raising."""

from dataclasses import dataclass, field
from typing import Final

import httpx2
import msgspec
from msgspec import UNSET

from mudra.shared.undecodable import UNDECODABLE

MAX_BYTES: Final = 32 * 1024 * 1024
NO_ANSWER: Final = 0
"""The status where none came."""


@dataclass(frozen=True)
class Answer:
    """Status, headers and body; `document` is UNSET where the body is not JSON."""

    status: int
    headers: httpx2.Headers = field(default_factory=httpx2.Headers)
    body: bytes = b""
    document: object = UNSET
    problem: str = ""
    """The reason for no answer."""
    request: str = ""
    """Method and address of what it answers."""

    def field(self, name: str) -> object:
        """Return a field of the JSON object; UNSET where there is none."""
        return self.document.get(name, UNSET) if isinstance(self.document, dict) else UNSET

    def text(self, name: str) -> str:
        """Return a field that is a string; empty where it is none."""
        value = self.field(name)
        return value if isinstance(value, str) else ""

    def described(self) -> str:
        """Return the status with the error that the body names."""
        if self.status == NO_ANSWER:
            return f"no answer ({self.problem})"
        named = (self.text(name) for name in ("errorCode", "errorMsg", "error"))
        return " ".join((str(self.status), *filter(None, named)))


def ask(
    client: httpx2.Client,
    method: str,
    url: str,
    *,
    headers: dict[str, str] | None = None,
    content: bytes | None = None,
    form: dict[str, str] | None = None,
) -> Answer:
    """Send one request and read the answer, up to 32 MiB; a failure is an answer as well."""
    asked = f"{method} {url}"
    try:
        with client.stream(method, url, headers=headers, content=content, data=form) as response:
            body = b""
            for chunk in response.iter_bytes(64 * 1024):
                body += chunk
                if len(body) > MAX_BYTES:
                    problem = "the body is larger than 32 MiB"
                    return Answer(NO_ANSWER, problem=problem, request=asked)
            came = response.headers
            return Answer(response.status_code, came, body, _document(body), request=asked)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        return Answer(NO_ANSWER, problem=type(error).__name__, request=asked)


def _document(body: bytes) -> object:
    try:
        return msgspec.json.decode(body)
    except UNDECODABLE:
        return UNSET
