"""The search of registered keys, of services whose tests are not about it.

Each minute it takes 4.5 s of CPU: a tenth of that of a run of tests, whose keys no prime of the
search divides. All of it is done as ever, in a process of its own, but with few primes.
"""

from typing import Final

import msgspec

from mudra.bootstrap.node import jobs_process
from mudra.registry.key_search.weak_key import Found, Step

_NUMBERS: Final = 1 << 16

_whole = jobs_process.search_apart


def install() -> None:
    """Let the services of this process and its forks search so."""
    vars(jobs_process)["search_apart"] = _search_few


async def _search_few(step: Step) -> Found | None:
    """Take a step with the first of its primes."""
    return await _whole(msgspec.structs.replace(step, end=min(step.end, step.begin + _NUMBERS)))
