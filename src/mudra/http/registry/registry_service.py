"""What the registry's handlers are given to work with."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

from msgspec import Struct

from mudra.audit.event import Caller
from mudra.registry.directory.directory import Directory, DirectoryListing
from mudra.registry.payload.url_rules import AddressPolicy
from mudra.registry.payload.validation import CheckedPayload, check_submission
from mudra.registry.payload.vocabulary import Vocabulary, shipped_vocabulary
from mudra.registry.ports import DirectoryLog, Registry, Wordbook
from mudra.shared.finding import Finding

_MAX_COUNT: Final = 2_000
"""Finished answers kept. Three of them are whole lists, a megabyte each; others hold one entry."""


class Signed(Struct, frozen=True):
    """A finished answer with its detached signature."""

    answer: DirectoryListing
    signature: str


class FinishedResponses:
    """Answers ready to be sent, kept as long as the directory and the signing key are the same."""

    def __init__(self, sign: Callable[[bytes], str], signing_kid: Callable[[], str]) -> None:
        self._sign = sign
        self._signing_kid = signing_kid
        self._of: tuple[Directory | None, str] = (None, "")
        self._kept: OrderedDict[Hashable, Signed] = OrderedDict()

    def give(
        self, directory: Directory, what: Hashable, make: Callable[[], DirectoryListing | None]
    ) -> Signed | None:
        """Give the answer to `what`, made when it is not there."""
        of = (directory, self._signing_kid())
        if self._of[0] is not of[0] or self._of[1] != of[1]:
            self._kept.clear()
            self._of = of
        kept = self._kept.get(what)
        if kept is None:
            answer = make()
            if answer is None:  # not kept: names that nobody has are without number
                return None
            kept = self._kept[what] = self.sign(answer)
            if len(self._kept) > _MAX_COUNT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(what)
        return kept

    def sign(self, answer: DirectoryListing) -> Signed:
        """Sign an answer that is not kept."""
        return Signed(answer, self._sign(answer.body))


class RegistryService(Struct, frozen=True):
    """The registry, its directory and the finished answers of this process."""

    registry: Callable[[Caller], Registry]
    log: DirectoryLog
    words: Wordbook
    policy: AddressPolicy
    finished: FinishedResponses

    async def vocabulary(self) -> Vocabulary:
        """The words of this release and those that the operator added."""
        return shipped_vocabulary().extended(await self.words.additions())

    def check(
        self, raw: object, words: Vocabulary, entity_type: str, entity_id: str | None
    ) -> CheckedPayload | list[Finding]:
        """Judge a payload with these words and the policy of this service; keeps nothing."""
        return check_submission(raw, self.policy, words, entity_type, entity_id)
