"""A copy of the registry for programs with threads."""

from pathlib import Path

import httpx2

from mudra.client import clock
from mudra.client.address import checked_url
from mudra.client.directory.copy import DirectoryEntry, PageRefused
from mudra.client.directory.following import (
    Following,
    check_answer,
    check_body,
    check_size,
    role_of,
)
from mudra.client.errors import MudraClientError
from mudra.client.signing.body_signature import SIGNATURE_HEADER
from mudra.client.token_source import EntityTokenSource
from mudra.client.verifier import TokenVerifier
from mudra.client.web.httpx2_auth import EntityTokenAuth
from mudra.shared.fork_lock import ForkLock


class Directory:
    """The registry's live entries that we may see; one instance serves all threads.

    `registry` is its address, such as `https://registry.example.org/cr/v2`. `tokens` are ours;
    `verifier` checks that the registry signed each answer. With `file` the copy is on disk too,
    and a program that starts while the registry is down uses it.

    A lookup refreshes the copy when it is older than `refresh_seconds`, with the changes since
    then. The registry's hash proves that nothing is missing. While the registry is out of reach,
    lookups go on with the last proven copy; `age` says how old it is.

    Raises ValueError for an address that is neither https nor on this machine, unless
    `allow_http`; OSError for a file that cannot be read.
    """

    def __init__(  # noqa: PLR0913 -- all but the first three are options with a default
        self,
        registry: str,
        tokens: EntityTokenSource,
        verifier: TokenVerifier,
        *,
        file: Path | None = None,
        refresh_seconds: float = 60.0,
        allow_http: bool = False,
        http: httpx2.Client | None = None,
        steady: clock.Seconds = clock.steady,
    ) -> None:
        address = checked_url(registry, allow_http=allow_http)
        self._following = Following(address, file, refresh_seconds, steady)
        self._auth = EntityTokenAuth(tokens, allow_http=allow_http)
        self._verifier = verifier
        self._http = http or httpx2.Client(timeout=30)
        self._refreshing = ForkLock()

    @property
    def age(self) -> float:
        """Seconds since the copy was last proven; infinite for one that comes from the disk."""
        return self._following.age

    def entry(self, entity_id: str) -> DirectoryEntry | None:
        """Return a live entry; None for an ID that has none, or that we may not see.

        Raises DirectoryUnavailable while there is no proven copy.
        """
        self._refresh_when_due()
        return self._following.copy.find(entity_id)

    def entries(self, entity_type: str = "") -> list[DirectoryEntry]:
        """Return the live entries of `AA`, `FIP` or `FIU`, or all, by ID; raises as `entry`."""
        self._refresh_when_due()
        return self._following.copy.of_type(role_of(entity_type))

    def check_body(self, entity_id: str, body: bytes, signature: str) -> None:
        """Raise SignatureRefused unless the entity's registered key signed these bytes.

        `signature` is the header `x-jws-signature` of its message.
        """
        check_body(self.entry(entity_id), entity_id, body, signature)

    def refresh(self) -> None:
        """Bring the copy up to date now; raises DirectoryUnavailable if that fails."""
        with self._refreshing:
            failure = self._ask()
        self._following.check_refresh(failure)

    def close(self) -> None:
        """Close the connections to the registry."""
        self._http.close()

    def _refresh_when_due(self) -> None:
        # With a proven copy there is no need to wait for another thread's refresh.
        if self._following.must_refresh() and self._refreshing.acquire(
            blocking=not self._following.copy.proven
        ):
            try:
                # Another thread may have refreshed it while this one waited.
                if self._following.must_refresh():
                    self._ask()
            finally:
                self._refreshing.release()

    def _ask(self) -> Exception | None:
        """Refresh the copy; return why that failed."""
        failure: Exception | None = InterruptedError("it was interrupted")
        try:
            self._following.begin()
            try:
                self._follow()
            except PageRefused:
                # The registry may have been restored from a backup: all entries prove themselves.
                self._following.begin_again()
                self._follow()
            failure = None
        except (httpx2.HTTPError, MudraClientError, PageRefused) as error:
            failure = error
        finally:
            self._following.asked(failure)
        return failure

    def _follow(self) -> None:
        while self._following.take(self._page()):
            pass

    def _page(self) -> bytes:
        with self._http.stream(
            "GET", self._following.url, auth=self._auth, follow_redirects=False
        ) as answer:
            check_answer(answer.status_code, answer.headers)
            body = bytearray()
            for chunk in answer.iter_bytes():
                body += chunk
                check_size(len(body))
        page = bytes(body)
        self._verifier.check_signature(page, answer.headers.get(SIGNATURE_HEADER, ""))
        return page
