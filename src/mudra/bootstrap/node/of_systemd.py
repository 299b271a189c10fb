"""The gifts of systemd to a node: an address to notify, and listening sockets. Without it: nothing.

Sockets that it opened and holds (sd_listen_fds(3)) keep connections in the kernel's backlog while a
unit restarts: none is refused.
"""

import os
import socket
import sys
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mudra.bootstrap.config import ConfigError, check_together
from mudra.bootstrap.node.cannot_listen import CannotListen
from mudra.bootstrap.node.notifier import Notifier, take_notifier
from mudra.settings.settings import Settings

FIRST_FD: Final = 3
"""SD_LISTEN_FDS_START."""
_VARIABLES: Final = ("LISTEN_FDNAMES", "LISTEN_PIDFDID")


@dataclass(frozen=True)
class OfSystemd:
    """The variables of systemd in the environment, meant for this process alone."""

    notifier: Notifier
    passed: Sequence[socket.socket]

    def applied_to(self, settings: Settings) -> Settings:
        """Return the settings with the address that the passed sockets have."""
        return _as_passed(settings, self.passed)

    def listeners(self, workers: int) -> list[socket.socket]:
        """Return the socket of each worker; none when nothing was passed."""
        return _for_workers(self.passed, workers) if self.passed else []


def take_from(environment: MutableMapping[str, str]) -> OfSystemd:
    """Take what is there, and remove the variables from the environment."""
    return OfSystemd(take_notifier(environment), _take_sockets(environment))


def _take_sockets(environment: MutableMapping[str, str]) -> Sequence[socket.socket]:
    """Return the sockets that were passed to this very process, and remove the variables.

    Raises CannotListen for a descriptor that no one can connect to by an IP address.
    """
    count = environment.pop("LISTEN_FDS", "")
    process = environment.pop("LISTEN_PID", "")
    for name in _VARIABLES:
        environment.pop(name, None)
    if process != str(os.getpid()):
        return ()
    if not count.isdecimal():
        raise CannotListen(f"LISTEN_FDS must be a number, not {count!r}: sd_listen_fds(3)")
    passed = [_listening(FIRST_FD + number) for number in range(int(count))]
    addresses = {one.getsockname()[:2] for one in passed}
    if len(addresses) > 1:
        raise CannotListen(
            f"the sockets passed by LISTEN_FDS listen on {_texts(addresses)}: Mudra serves one "
            "address; ListenStream=PORT takes IPv4 and IPv6"
        )
    return passed


def _as_passed(settings: Settings, passed: Sequence[socket.socket]) -> Settings:
    """Return the settings with the address of the passed sockets, which holds.

    Raises CannotListen where number or address do not fit the other settings.
    """
    if not passed:
        return settings
    if len(passed) not in {1, settings.workers}:
        raise CannotListen(
            f"LISTEN_FDS passes {len(passed)} sockets to {settings.workers} workers: a socket that "
            "no worker serves would answer no one; repeat ListenStream (with ReusePort=yes) once "
            f"for each worker, have it once for all, or set MUDRA_WORKERS={len(passed)}"
        )
    host, port = passed[0].getsockname()[:2]
    if "port" in settings.sources and settings.port != port:
        sys.stderr.write(
            f"warning: MUDRA_PORT={settings.port} is not used: the passed socket holds, and is"
            f" on {host}:{port}; change ListenStream, or unset MUDRA_PORT\n"
        )
    listening = replace(settings, host=host, port=port)
    try:
        check_together(listening)
    except ConfigError as error:
        raise CannotListen(f"{error} (ListenStream passed {host}:{port})") from error
    return listening


def _for_workers(passed: Sequence[socket.socket], workers: int) -> list[socket.socket]:
    """Give each worker its own socket, or all of them the one that there is."""
    return [passed[number % len(passed)] for number in range(workers)]


def _listening(fd: int) -> socket.socket:
    try:
        passed = socket.socket(fileno=fd)
        listens = passed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    except OSError as error:
        raise CannotListen(
            f"descriptor {fd}, passed by LISTEN_FDS, is no socket ({error.strerror}): Mudra takes "
            "sockets of ListenStream"
        ) from error
    if passed.type != socket.SOCK_STREAM or not listens:
        raise CannotListen(
            f"descriptor {fd}, passed by LISTEN_FDS, is no listening stream socket: write "
            "ListenStream, with Accept=no"
        )
    if passed.family not in {socket.AF_INET, socket.AF_INET6}:
        raise CannotListen(
            f"descriptor {fd}, passed by LISTEN_FDS, has no IP address, by which requests are "
            "limited: write ListenStream=127.0.0.1:8080 or the like"
        )
    passed.set_inheritable(False)
    passed.settimeout(0)
    return passed


def _texts(addresses: set[tuple[str, int]]) -> str:
    return " and ".join(sorted(f"{host}:{port}" for host, port in addresses))
