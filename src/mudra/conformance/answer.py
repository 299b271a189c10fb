"""An answer of what is checked: read once, of bounded size, never raising."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import httpx2
import msgspec
from msgspec import UNSET

from mudra.client.errors import kind_of_failure
from mudra.shared.text.undecodable import UNDECODABLE

MAX_BYTES: Final = 32 * 1024 * 1024
NO_ANSWER: Final = 0
"""The status where none came."""
BUSY: Final = (httpx2.codes.TOO_MANY_REQUESTS, httpx2.codes.SERVICE_UNAVAILABLE)
TRIES: Final = 3
"""How many times a busy implementation is asked again for one answer."""
MAX_WAIT_S: Final = 30
"""The seconds that are waited for one answer, in all."""
MAX_WAITS_S: Final = 300
"""The seconds that are waited in a run for a busy implementation, in all."""


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


class Caller:
    """Sends requests; a busy answer with `Retry-After` in seconds is asked for again.

    At most three times and within 30 seconds for an answer, 5 minutes in a run: a limit that
    lasts longer, and a service that is always busy, are answers like others.
    """

    def __init__(self, client: httpx2.Client, wait: Callable[[float], None]) -> None:
        self._client = client
        self._wait = wait
        self._left = MAX_WAITS_S

    def ask(
        self,
        method: str,
        url: str,
        *,
        headers: dict[str, str] | None = None,
        content: bytes | None = None,
        form: dict[str, str] | None = None,
    ) -> Answer:
        """Send one request and read the answer, up to 32 MiB; a failure is an answer as well."""
        waited = 0
        for _ in range(TRIES):
            answer = _asked(self._client, method, url, headers, content, form)
            pause = _pause_of(answer)
            if pause is None or waited + pause > MAX_WAIT_S or pause > self._left:
                return answer
            self._wait(pause)
            waited += pause
            self._left -= pause
        return _asked(self._client, method, url, headers, content, form)


def _pause_of(answer: Answer) -> int | None:
    """Return the seconds after which a busy implementation may be asked again, None for never."""
    text = answer.headers.get("Retry-After", "")
    is_busy = answer.status in BUSY and text.isascii() and text.isdigit()
    return int(text[:9]) if is_busy else None


def _asked(
    client: httpx2.Client,
    method: str,
    url: str,
    headers: dict[str, str] | None,
    content: bytes | None,
    form: dict[str, str] | None,
) -> Answer:
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
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        return Answer(NO_ANSWER, problem=kind_of_failure(error), request=asked)


def _document(body: bytes) -> object:
    try:
        return msgspec.json.decode(body)
    except UNDECODABLE:
        return UNSET
