"""Gives freed memory back to the machine, which the C library keeps.

Of 560 MB of a worker after 50 minutes of a national network's load, 222 MB were free. It costs a
thread 36 ms for half a gigabyte. `MALLOC_ARENA_MAX` in units and images would miss a plain
`mudra serve`; jemalloc or mimalloc is a library to load before all others.
"""

import asyncio
import ctypes
from typing import Final

EVERY_S: Final = 10.0
_M_MMAP_THRESHOLD: Final = -3
_M_TRIM_THRESHOLD: Final = -1
_M_ARENA_MAX: Final = -8
"""Parameters of mallopt(3)."""
_LARGE: Final = 1024 * 1024
"""Bytes from which a block is one of its own; glibc alone raises it to the largest one freed. A
column of a nation's cells has less, 224 KB: with 128 KiB an AA's page takes twice the CPU."""
_KEPT: Final = 8 * 1024 * 1024
"""Free bytes at the end of the arena that stay until `give_back`."""


def allocate_apart() -> None:
    """Let all threads of this process allocate from one arena, and large blocks from none.

    glibc alone has several arenas: each would keep what its thread freed, though only one of them
    runs at a time (the GIL). A large block is given back as soon as it is freed: between others it
    would leave a gap that small ones fill, and the next one takes new memory. To be called before
    the first thread.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(_M_ARENA_MAX, 1)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE)
        library.mallopt(_M_TRIM_THRESHOLD, _KEPT)


def give_back() -> None:
    """Give free pages back, also those between used ones (malloc_trim(3) of glibc)."""
    library = ctypes.CDLL(None)
    if hasattr(library, "malloc_trim"):
        library.malloc_trim(0)


async def give_back_regularly() -> None:
    """Give free pages back every 10 s, in a thread, until cancelled."""
    while True:
        await asyncio.sleep(EVERY_S)
        await asyncio.to_thread(give_back)
