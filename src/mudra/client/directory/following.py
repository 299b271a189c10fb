"""When to ask the registry for changes, and what of its answers is taken over. No I/O."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final

import msgspec

from mudra.client.clock import Seconds
from mudra.client.directory import copy_file
from mudra.client.directory.copy import DirectoryCopy, DirectoryEntry, Page, PageRefused
from mudra.client.entity_token import Role
from mudra.client.errors import (
    DirectoryUnavailable,
    ServiceUnavailable,
    SignatureRefused,
    UnexpectedResponse,
    pause_after,
)
from mudra.client.grant import retry_after
from mudra.client.signing.body_signature import MAX_BODY_BYTES, RegisteredKey
from mudra.shared.text.undecodable import UNDECODABLE

MAX_PAGES: Final = 10_000
LEEWAY_SECONDS: Final = 60

_log = logging.getLogger("mudra.client")


class Expected(msgspec.Struct, frozen=True):
    """The facts that each page must state: whose it is, and for whom."""

    issuer: str
    reader: str


class Following:
    """The copy of one registry. `refresh_seconds` is how old it may get before it is refreshed."""

    def __init__(
        self,
        registry: str,
        expected: Expected,
        file: Path | None,
        refresh_seconds: float,
        steady: Seconds,
        wall: Seconds,
    ) -> None:
        self.registry = registry
        self._expected = expected
        self._file = file
        self._refresh_seconds = refresh_seconds
        self._steady = steady
        self._wall = wall
        self.copy = DirectoryCopy() if file is None else copy_file.load(file, registry)
        self._draft, self._pages = self.copy, 0
        self._next_at = float("-inf")
        self._is_saved = True
        self._not_saved_because = ""
        self._failure: Exception | None = None

    @property
    def age(self) -> float:
        """Seconds since the registry signed what proves the copy; infinite without a copy."""
        if not self.copy.proven:
            return float("inf")
        return max(0.0, self._wall() - self.copy.issued_at)

    def must_refresh(self) -> bool:
        """Return whether to ask the registry before the next lookup."""
        return self._steady() >= self._next_at

    def begin(self) -> None:
        """Start from the copy that was proven last."""
        self._draft, self._pages = self.copy, 0

    def begin_again(self) -> None:
        """Start from nothing: the registry then sends all entries."""
        self._draft, self._pages = DirectoryCopy(), 0

    @property
    def url(self) -> str:
        """The address of the next page."""
        return f"{self.registry}/changes?since={self._draft.upto}"

    def take(self, body: bytes) -> bool:
        """Take over a page whose signature was checked; return whether more follow.

        Raises PageRefused. A proven copy is used also when it cannot be written to the disk; that
        is tried again with the next refresh.
        """
        try:
            page = msgspec.json.decode(body, type=Page)
        except UNDECODABLE as error:
            raise PageRefused(f"its form is wrong ({type(error).__name__})") from error
        self._check_fresh(page)
        self._draft = self._draft.after(page)
        self._pages += 1
        if self._pages > MAX_PAGES:
            raise PageRefused(f"more than {MAX_PAGES} pages follow one another")
        if page.more:
            return True
        if page.complete or page.upto != self.copy.upto:
            self._is_saved = False
        self.copy = self._draft
        self._save()
        return False

    def _check_fresh(self, page: Page) -> None:
        """Refuse what was signed for another reader, or at another time: a repeated answer."""
        if (page.registry, page.reader) != (self._expected.issuer, self._expected.reader):
            raise PageRefused("it was signed by another registry, or for another reader")
        now = self._wall()
        if not page.issued_at - LEEWAY_SECONDS <= now <= page.valid_until + LEEWAY_SECONDS:
            raise PageRefused("it is not valid now; compare the clocks")
        self.copy.check_not_older(page)

    def _save(self) -> None:
        if self._file is None or self._is_saved:
            return
        try:
            copy_file.save(self._file, self.registry, self.copy)
        except OSError as error:
            self._not_saved_because = str(error)
            _log.warning("copy of %s in use, but not saved: %s", self.registry, error)
        else:
            self._is_saved, self._not_saved_because = True, ""

    def asked(self, failure: Exception | None) -> None:
        """Record that the registry was asked, and why that failed: it is asked again later."""
        self._failure = failure
        pause = self._refresh_seconds
        if failure is not None:
            pause = pause_after(failure)
            _log.warning("copy of %s not refreshed: %s", self.registry, _text(failure))
        self._next_at = self._steady() + pause

    def check_refresh(self) -> None:
        """Raise DirectoryUnavailable if the last refresh failed, or could not be saved."""
        if self._failure is not None:
            raise DirectoryUnavailable(
                f"the copy of {self.registry} could not be refreshed: {_text(self._failure)}",
                "lookups go on with the last proven copy; try again later",
                pause_after(self._failure),
            ) from self._failure
        if self._not_saved_because:
            raise DirectoryUnavailable(
                f"the new copy of {self.registry} could not be saved: {self._not_saved_because}",
                "lookups use it; make room, or let this program write the file",
            )


def _text(failure: Exception) -> str:
    return str(failure) or type(failure).__name__


def check_size(size: int) -> None:
    """Raise PageRefused once a page is larger than any."""
    if size > MAX_BODY_BYTES:
        raise PageRefused(f"it has more than {MAX_BODY_BYTES} bytes")


def check_answer(status: int, headers: Mapping[str, str]) -> None:
    """Raise unless the answer is a 200; redirects are not followed.

    ServiceUnavailable for a registry that wants to be asked later, UnexpectedResponse for the rest.
    """
    if status == HTTPStatus.OK:
        return
    diagnosis = f"the registry answered {status}"
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise ServiceUnavailable(diagnosis, "try again later", retry_after(headers))
    raise UnexpectedResponse(diagnosis, "check its address, and that this entity may read it")


def check_body(entry: DirectoryEntry | None, entity_id: str, body: bytes, signature: str) -> None:
    """Raise SignatureRefused unless the registered key of this entity signed the body."""
    if entry is None:
        raise SignatureRefused(f"{entity_id} is not in the registry", "do not act on the body")
    RegisteredKey.from_certificate(entry.certificate).check(body, signature)


def role_of(entity_type: str) -> Role | None:
    """Return the role of an entity type; None for all. Raises ValueError for another word."""
    return Role(entity_type) if entity_type else None
