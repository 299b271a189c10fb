"""Events as messages of syslog (RFC 5424) over TLS (RFC 5425).

Syslog acknowledges nothing. Here a connection is one batch: it is closed by both sides, so the
receiver has read all of it. What it then loses before it has stored it, it loses alone: when it
fails, the last minute is sent again (audit/export.py).
"""

import asyncio
import os
import socket
import ssl
from collections.abc import Sequence
from datetime import UTC
from typing import Final

import msgspec

from mudra.audit.event import Outcome
from mudra.audit.export import ExportDestination, ExportedEvent
from mudra.shared.build_version import version

FACILITY: Final = 13
"""Log audit."""
_SEVERITY: Final = {Outcome.SUCCESS: 6, Outcome.REFUSED: 4, Outcome.FAILED: 3}
"""Informational, warning, error."""
_MAX_SEQUENCE: Final = 2**31
"""RFC 5424, 7.3.1: 1 to 2147483647."""
_CONNECT_S: Final = 10.0
_SEND_S: Final = 30.0
_JSON: Final = msgspec.json.Encoder()


class SyslogReceiver:
    """A server of syslog; implements audit/export.py Receiver."""

    acknowledges: Final = False

    def __init__(self, to: ExportDestination, context: ssl.SSLContext) -> None:
        self._to = to
        self._context = context

    async def take(self, events: Sequence[ExportedEvent]) -> str:
        """Send events on a connection of their own; returns why they were not taken, or nothing."""
        frames = b"".join(_framed(message(one)) for one in events)
        try:
            await asyncio.to_thread(self._send, frames)
        except ssl.SSLCertVerificationError as error:
            return f"{self._to}: its certificate is not trusted: {error.verify_message}"
        except OSError as error:
            return f"{self._to}: {error.strerror or type(error).__name__}"
        return ""

    def _send(self, frames: bytes) -> None:
        address = (self._to.host, self._to.port)
        with socket.create_connection(address, _CONNECT_S) as plain:
            plain.settimeout(_SEND_S)
            with self._context.wrap_socket(plain, server_hostname=self._to.host) as secured:
                secured.sendall(frames)
                _closed_by_both(secured)


def _closed_by_both(secured: ssl.SSLSocket) -> None:
    """Close for sending, and wait until the other side has read all and closes too.

    Raises OSError when it went away before, or does not close. Some close without TLS's own
    farewell: after ours that is the same.
    """
    try:
        secured.unwrap()
    except ssl.SSLEOFError:
        return
    except ConnectionError:
        raise
    except OSError as error:
        if error.errno:  # 0: OpenSSL's way to say that the connection ended
            raise


def _framed(text: bytes) -> bytes:
    """Return a message with its length in front (RFC 5425, 4.3)."""
    return b"%d %b" % (len(text), text)


def message(event: ExportedEvent) -> bytes:
    """Return an event as a message of RFC 5424; its text is ASCII, so it needs no mark of UTF-8."""
    priority = FACILITY * 8 + _SEVERITY[event.outcome]
    at = event.at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    sequence = (event.number - 1) % (_MAX_SEQUENCE - 1) + 1
    head = f"<{priority}>1 {at} {os.uname().nodename} mudra - {event.event}"
    facts = f'[origin software="Mudra" swVersion="{version()}"][meta sequenceId="{sequence}"]'
    text = _JSON.encode(event).decode()
    escaped = text if text.isascii() else _ascii(text)
    return f"{head} {facts} {escaped}".encode("ascii")


def _ascii(text: str) -> str:
    units = text.encode("utf-16-be")
    pairs = (units[at : at + 2] for at in range(0, len(units), 2))
    return "".join(chr(one[1]) if one < b"\0\x80" else f"\\u{one.hex()}" for one in pairs)
