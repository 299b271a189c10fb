"""When to ask the registry for changes, and what of its answers is taken over. No I/O."""

import logging
from pathlib import Path
from typing import Final

import msgspec

from mudra.client.clock import Seconds
from mudra.client.directory import copy_file
from mudra.client.directory.copy import DirectoryCopy, DirectoryEntry, Page, PageRefused
from mudra.client.entity_token import Role
from mudra.client.errors import DirectoryUnavailable, SignatureRefused
from mudra.client.signing.body_signature import MAX_BODY_BYTES, RegisteredKey

PAUSE_SECONDS: Final = 5.0
"""Between two attempts when the registry does not answer."""
MAX_PAGES: Final = 10_000

_log = logging.getLogger("mudra.client")


class Following:
    """The copy of one registry. `refresh_seconds` is how old it may get before it is refreshed."""

    def __init__(
        self, registry: str, file: Path | None, refresh_seconds: float, steady: Seconds
    ) -> None:
        self.registry = registry
        self._file = file
        self._refresh_seconds = refresh_seconds
        self._steady = steady
        self.copy = DirectoryCopy() if file is None else copy_file.load(file, registry)
        self._draft, self._pages = self.copy, 0
        self._proven_at = self._next_at = float("-inf")

    @property
    def age(self) -> float:
        """Seconds since the copy was last proven; infinite for one that comes from the disk."""
        return self._steady() - self._proven_at

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

        Raises PageRefused, OSError when the copy cannot be written to the disk.
        """
        try:
            page = msgspec.json.decode(body, type=Page)
        except (msgspec.DecodeError, RecursionError) as error:
            raise PageRefused(f"its form is wrong ({type(error).__name__})") from error
        self._draft = self._draft.after(page)
        self._pages += 1
        if self._pages > MAX_PAGES:
            raise PageRefused(f"more than {MAX_PAGES} pages follow one another")
        if page.more:
            return True
        if self._file is not None and (page.complete or page.upto != self.copy.upto):
            copy_file.save(self._file, self.registry, self._draft)
        self.copy, self._proven_at = self._draft, self._steady()
        return False

    def asked(self, problem: str = "") -> None:
        """Record that the registry was asked, and why that failed."""
        self._next_at = self._steady() + (PAUSE_SECONDS if problem else self._refresh_seconds)
        if problem:
            _log.warning("copy of %s not refreshed: %s", self.registry, problem)

    def failure(self, problem: str) -> DirectoryUnavailable:
        """Return the error for a caller who asked for a refresh."""
        return DirectoryUnavailable(
            f"the copy of {self.registry} could not be refreshed: {problem}",
            "lookups go on with the last proven copy; try again later",
        )


def check_size(size: int) -> None:
    """Raise PageRefused once a page is larger than any."""
    if size > MAX_BODY_BYTES:
        raise PageRefused(f"it has more than {MAX_BODY_BYTES} bytes")


def check_status(status: int) -> None:
    """Raise PageRefused unless the answer is a 200; redirects are not followed."""
    if status != 200:  # noqa: PLR2004 -- the status OK
        raise PageRefused(f"the answer was {status}")


def check_body(entry: DirectoryEntry | None, entity_id: str, body: bytes, signature: str) -> None:
    """Raise SignatureRefused unless the registered key of this entity signed the body."""
    if entry is None:
        raise SignatureRefused(f"{entity_id} is not in the registry", "do not act on the body")
    RegisteredKey.from_certificate(entry.certificate).check(body, signature)


def role_of(entity_type: str) -> Role | None:
    """Return the role of an entity type; None for all. Raises ValueError for another word."""
    return Role(entity_type) if entity_type else None
