"""The search of registered keys, of services whose tests are not about it.

Each minute it takes 4.5 s of CPU: a tenth of that of a run of tests, whose keys no prime of the
search divides. The same is done with few primes, and in a thread: a process of its own loads its
libraries in six times as long as that takes, and its own tests show that it does.
"""

import asyncio
from typing import Final

from mudra.bootstrap.node import jobs_process
from mudra.registry.key_search.small_factors import divisible, sharing
from mudra.registry.key_search.weak_key import Found, Step

_NUMBERS: Final = 1 << 16


def install() -> None:
    """Let the services of this process and its forks search so."""
    vars(jobs_process)["search_apart"] = _search_few


async def _search_few(step: Step) -> Found | None:
    """Take a step with the first of its primes."""
    return await asyncio.to_thread(_searched, step)


def _searched(step: Step) -> Found:
    new, known, done = ([one.modulus for one in some] for some in (step.new, step.known, step.done))
    found = divisible([*new, *known], step.begin, min(step.end, step.begin + _NUMBERS))
    shared = sharing(new, [*known, *done])
    return Found([place for place, one in enumerate(found) if one], shared)
