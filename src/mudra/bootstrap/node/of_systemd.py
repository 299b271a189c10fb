"""What systemd gives a node: an address to notify, and listening sockets. Without it: nothing."""

import socket
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass

from mudra.bootstrap.node.notifier import Notifier, take_notifier
from mudra.bootstrap.node.passed_sockets import as_passed, for_workers, take_sockets
from mudra.settings.settings import Settings


@dataclass(frozen=True)
class OfSystemd:
    """What the environment of this process had for it alone."""

    notifier: Notifier
    passed: Sequence[socket.socket]

    def applied_to(self, settings: Settings) -> Settings:
        """Return the settings with the address that the passed sockets have."""
        return as_passed(settings, self.passed)

    def listeners(self, workers: int) -> list[socket.socket]:
        """Return the socket of each worker; none when nothing was passed."""
        return for_workers(self.passed, workers) if self.passed else []


def take_from(environment: MutableMapping[str, str]) -> OfSystemd:
    """Take what is there, and remove the variables from the environment."""
    return OfSystemd(take_notifier(environment), take_sockets(environment))
