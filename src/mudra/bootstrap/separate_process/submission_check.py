"""Checks registration payloads in another process: the primes of one key take 0.1 s."""

import contextlib
from functools import partial
from typing import Final

from mudra.bootstrap.separate_process.process_apart import NoAnswerApart, ProcessApart
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.validation import CheckedPayload, check_submission
from mudra.registry.payload.vocabulary import Vocabulary
from mudra.registry.ports import Address
from mudra.shared.finding import Finding

_ONE_QUEUE: Final = ""
"""`as_registry_actor` lets each caller have one at a time."""


class SubmissionChecker:
    """Implements registry/ports.py CheckSubmission for one worker."""

    def __init__(self) -> None:
        self._apart = ProcessApart()

    async def prepare(self) -> None:
        """Start the process unless it runs: a second or two, for which no transaction may wait."""
        # Without an answer here, `check` has none either, and says what to do.
        with contextlib.suppress(NoAnswerApart):
            await self._apart.run(_ONE_QUEUE, _loaded)

    async def check(
        self, payload: object, policy: AddressPolicy, vocabulary: Vocabulary, address: Address
    ) -> CheckedPayload | list[Finding]:
        """Return the checked payload, or its findings."""
        call = partial(check_submission, payload, policy, vocabulary, *address)
        try:
            return await self._apart.run(_ONE_QUEUE, call)
        except NoAnswerApart:
            # Rather 0.1 s without others than no registration: the machine is overloaded.
            return check_submission(payload, policy, vocabulary, *address)


def _loaded() -> None:
    """Do nothing, in a process that has loaded this module and all that a check needs."""


async def nothing_to_prepare() -> None:
    """Return at once: `check_here` needs no other process."""


async def check_here(
    payload: object, policy: AddressPolicy, vocabulary: Vocabulary, address: Address
) -> CheckedPayload | list[Finding]:
    """Check in this process: for commands and jobs, which keep no one waiting."""
    return check_submission(payload, policy, vocabulary, *address)
