"""Keeps the metrics of a node's processes in memory, where no full disk can end a process.

prometheus-client maps a file for each process and kind of metric into memory. On a disk that is
full the kernel ends a process that writes into such a file (SIGBUS). Here each file is one of
memory alone (memfd_create(2)), which the supervisor makes and its children inherit; a link in the
folder that the library reads leads to it. A file belongs to a place, such as `worker-0`, and not to
a process ID: the counters of a process that is started again go on.
"""

import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final

SUPERVISOR: Final = "supervisor"
_LIVE: Final = ("gauge_livemax", "gauge_livemostrecent")
"""Gauges of a process that has ended say nothing any more."""
_KINDS: Final = ("counter", "histogram", *_LIVE)
_BYTES: Final = 1 << 16
"""What a file has at first; the library doubles it."""
_EMPTY: Final = struct.pack("ii", 8, 0)
"""The head of a file without values: how many bytes of it are used."""

_place = ""


def use_places() -> None:
    """Lets the library name files by place; to be called before the first metric is made."""
    from prometheus_client import values  # noqa: PLC0415  # most commands have no metrics

    # As the library documents it for servers whose processes are numbered.
    values.ValueClass = values.MultiProcessValue(lambda: _place)  # type: ignore[no-untyped-call]  # the library has no types


class SharedMetrics:
    """The files of the places of a node, by the folder in which they are found."""

    def __init__(self, folder: Path) -> None:
        """Makes the metrics of the supervisor, which this process is; the folder is empty."""
        self._folder: Final = folder
        self._files: Final[dict[str, dict[str, int]]] = {}
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder.resolve())
        self.add([SUPERVISOR])
        _become(SUPERVISOR)

    def add(self, places: Sequence[str]) -> None:
        """Makes the files of places; the processes there are not forked yet."""
        for place in places:
            self._files[place] = {}
            for kind in _KINDS:
                name = f"{kind}_{place}.db"
                file = os.memfd_create(name)
                os.ftruncate(file, _BYTES)
                os.pwrite(file, _EMPTY, 0)
                (self._folder / name).symlink_to(f"/proc/self/fd/{file}")
                self._files[place][kind] = file

    def become(self, place: str) -> None:
        """Lets this forked process write into the files of its place alone."""
        for other, files in self._files.items():
            if other != place:
                for file in files.values():
                    os.close(file)
        _become(place)

    def forget(self, place: str) -> None:
        """Drops the live gauges of a process that has ended; its counters stay."""
        for kind in _LIVE:
            os.pwrite(self._files[place][kind], _EMPTY, 0)


def _become(place: str) -> None:
    global _place  # noqa: PLW0603  # the library asks for it at each change of a metric
    _place = place
