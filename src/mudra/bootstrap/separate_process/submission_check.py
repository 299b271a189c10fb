"""Checks registration payloads in another process: the primes of one key take 0.1 s."""

import contextlib
from functools import partial

from mudra.bootstrap.separate_process.process_apart import NoAnswerApart, ProcessApart
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.fields.weak_keys import small_primes
from mudra.registry.payload.validation import CheckedPayload, check_submission
from mudra.registry.payload.vocabulary import Vocabulary
from mudra.registry.ports import Address
from mudra.shared.finding import Finding


class SubmissionChecker:
    """Implements registry/ports.py CheckSubmission for one worker; callers take turns."""

    def __init__(self) -> None:
        self._apart = ProcessApart()

    async def prepare(self, caller: str) -> None:
        """Start the process unless it runs: a second or two, for which no transaction may wait."""
        # Without an answer here, `check` has none either, and says what to do.
        with contextlib.suppress(NoAnswerApart):
            await self._apart.run(caller, _loaded)

    async def check(
        self,
        payload: object,
        policy: AddressPolicy,
        vocabulary: Vocabulary,
        address: Address,
        caller: str,
    ) -> CheckedPayload | list[Finding]:
        """Return the checked payload, or its findings."""
        call = partial(check_submission, payload, policy, vocabulary, *address)
        try:
            return await self._apart.run(caller, call)
        except NoAnswerApart:
            # Rather 0.1 s without others than no registration: the machine is overloaded.
            return check_submission(payload, policy, vocabulary, *address)


def _loaded() -> None:
    """Load all that a check needs, with this module: the primes take 0.3 s."""
    small_primes()


async def nothing_to_prepare(_: str) -> None:
    """Return at once: `check_here` needs no other process."""


async def check_here(
    payload: object,
    policy: AddressPolicy,
    vocabulary: Vocabulary,
    address: Address,
    caller: str,  # noqa: ARG001  # no one waits here
) -> CheckedPayload | list[Finding]:
    """Check in this process: for commands and jobs, which keep no one waiting."""
    return check_submission(payload, policy, vocabulary, *address)
