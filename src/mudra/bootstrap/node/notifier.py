"""The messages of a node to systemd: sd_notify(3), one datagram to the socket that it names.

Without `NOTIFY_SOCKET` nothing is sent. Only the supervisor sends; no child knows the address.
"""

import os
import socket
from collections.abc import MutableMapping
from typing import Final

import structlog

from mudra.bootstrap.node.cannot_listen import CannotListen

MIN_WATCHDOG_S: Final = 4
"""The supervisor looks at its children once a second, and may wait a second more."""
_SEND_S: Final = 1.0

_log = structlog.get_logger()


class Notifier:
    """Says that a node is ready, how many workers serve, and that it stops."""

    def __init__(self, address: str = "", *, watchdog: bool = False) -> None:
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._watchdog = watchdog
        self._place = ""
        self._status = ""
        self._stopping = False

    def starting(self) -> None:
        """Say that the database and its schema come first."""
        self._send("STATUS=Starting: the database, its schema, then the workers.")

    def ready(self, place: str) -> None:
        """Say that the node answers at `place`."""
        self._place = place
        self._send("READY=1", f"STATUS=Answers at {place}.")

    def serving(self, workers: int, of: int) -> None:
        """Report how many workers serve; to be called as long as the supervisor runs."""
        if not self._place:
            return
        lines = ["WATCHDOG=1"] if self._watchdog and (workers or self._stopping) else []
        status = f"STATUS={workers} of {of} workers serve at {self._place}."
        if status != self._status and not self._stopping:
            self._status = status
            lines.append(status)
        self._send(*lines)

    def stopping(self) -> None:
        """Say that the node stops; the beats go on until the supervisor ends."""
        self._stopping = True
        self._send("STOPPING=1", "STATUS=Stopping: what is under way is finished.")

    def _send(self, *lines: str) -> None:
        if not self._address or not lines:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.settimeout(_SEND_S)
                sender.sendto("\n".join(lines).encode(), self._address)
        except OSError as error:
            _log.warning("systemd cannot be notified", error=str(error), lines=lines)


def take_notifier(environment: MutableMapping[str, str]) -> Notifier:
    """Return what notifies systemd, and remove its variables: no child is to speak for the node.

    Raises CannotListen for an address or a time that cannot work.
    """
    address = environment.pop("NOTIFY_SOCKET", "")
    microseconds = environment.pop("WATCHDOG_USEC", "")
    watched = environment.pop("WATCHDOG_PID", "")
    if address and address[0] not in "/@":
        raise CannotListen(
            f"NOTIFY_SOCKET must begin with / or @, not {address!r}: sd_notify(3); unset it, or "
            "let systemd set it (Type=notify)"
        )
    watchdog = bool(microseconds) and watched in {"", str(os.getpid())}
    if watchdog and not (
        microseconds.isdecimal() and int(microseconds) >= MIN_WATCHDOG_S * 1_000_000
    ):
        raise CannotListen(
            f"WATCHDOG_USEC must be at least {MIN_WATCHDOG_S}000000, not {microseconds!r}: set "
            f"WatchdogSec={MIN_WATCHDOG_S} or more in the unit"
        )
    return Notifier(address, watchdog=watchdog)
