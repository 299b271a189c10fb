"""One answer of the agent's HTTP server, and the error that becomes one."""

from dataclasses import dataclass

from mudra.agent.host.intake_guard import JSON


@dataclass(frozen=True, slots=True)
class IngestResponse:
    """One HTTP response."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


class RequestError(Exception):
    """A request that is refused; `code` is the `errorCode` of the response."""

    def __init__(
        self, status: int, code: str, message: str, headers: tuple[tuple[bytes, bytes], ...] = ()
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers
