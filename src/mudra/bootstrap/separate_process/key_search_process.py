"""Takes a step of the search of keys in a process that ends with it, of the lowest priority.

A step takes some seconds of CPU, which no one else wants at that moment: requests go first. The
process gets the moduli alone, has no settings, and opens no connection.
"""

import asyncio
import os
import sys
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from mudra.registry.key_search.small_factors import divisible, sharing
from mudra.registry.key_search.weak_key import Found, Step
from mudra.shared.child_environment import without_settings

_PATIENCE_S: Final = 300.0
"""A machine that has no turn for a step in this time is busy: the step is taken later."""

_log = structlog.get_logger()


class _Task(Struct, frozen=True):
    """The moduli of a step; bytes, since messages have no numbers of this size."""

    begin: int
    end: int
    new: list[bytes]
    known: list[bytes]
    done: list[bytes]


async def search_apart(step: Step) -> Found | None:
    """Take a step; implements registry/key_search/weak_key.py Search.

    Raises OSError when the process cannot be started or was lost.
    """
    moduli = ([_octets(one.modulus) for one in some] for some in (step.new, step.known, step.done))
    task = _Task(step.begin, step.end, *moduli)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=without_settings(os.environ),
    )
    try:
        async with asyncio.timeout(_PATIENCE_S):
            answer, _ = await process.communicate(msgspec.msgpack.encode(task))
    except TimeoutError:
        _log.warning("the machine is too busy to search keys; tried again", seconds=_PATIENCE_S)
        return None
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        raise ChildProcessError(f"the search of keys ended with {process.returncode}")
    return msgspec.msgpack.decode(answer, type=Found)


def _octets(modulus: int) -> bytes:
    return modulus.to_bytes((modulus.bit_length() + 7) // 8)


def _search(task: _Task) -> Found:
    new, known, done = (
        list(map(int.from_bytes, some)) for some in (task.new, task.known, task.done)
    )
    found = divisible([*new, *known], task.begin, task.end)
    # New keys are compared with all others, whatever the search for factors finds.
    shared = sharing(new, [*known, *done])
    return Found([place for place, one in enumerate(found) if one], shared)


if __name__ == "__main__":
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    asked = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=_Task)
    sys.stdout.buffer.write(msgspec.msgpack.encode(_search(asked)))
