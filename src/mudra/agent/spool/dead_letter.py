"""Payloads that the operator refused for good, each with its response, for a person to look at.

When the reason is gone, `agent resend` moves dead letters to the folder `resend`;
the agent queues them from there, whether it runs at that moment or starts later.
One that is sent twice is answered `duplicate`. Both folders are the agent's own, also
when an administrator runs `agent resend`.
"""

import contextlib
import errno
import os
from pathlib import Path
from typing import Final

import msgspec

from mudra.agent.counting.payload import Payload, format_time
from mudra.agent.spool.payload_files import QueuedPayload, write_durably
from mudra.agent.spool.spool import MAX_AGE, Spool
from mudra.metrics.payload.catalogue import Tag
from mudra.shared.text.undecodable import UNDECODABLE

FOLDER: Final = "dead-letters"
RESEND: Final = "resend"
SHARE: Final = 4
"""Dead letters have a quarter of the room of payloads: they are for a person to read."""


class DeadLetter(msgspec.Struct, frozen=True, rename="camel"):
    """One refused payload."""

    txn_id: str
    tag: Tag
    window: str
    refused_at: str
    status: int
    answer: str
    payload: msgspec.Raw
    revision: int = 0


def write_dead_letter(
    directory: Path, queued: QueuedPayload, body: bytes, status: int, answer: str, now: int
) -> Path:
    """Write the dead letter durably and return its path; the same one twice is one."""
    folder = _made(directory / FOLDER)
    path = folder / f"{queued.window}-{queued.tag}-{queued.txn_id}.json"
    dead_letter = DeadLetter(
        queued.txn_id,
        queued.tag,
        format_time(queued.window),
        format_time(now),
        status,
        answer,
        msgspec.Raw(body),
        queued.revision,
    )
    write_durably(path, msgspec.json.encode(dead_letter))
    return path


def dead_letters(directory: Path) -> list[Path]:
    """Return all dead letters, oldest window first. Raises OSError."""
    return _files(directory / FOLDER)


def drop_beyond_room(directory: Path, max_bytes: int) -> int:
    """Drop dead letters beyond the room, oldest window first; return how many. Raises OSError.

    The newest stays, however large it is.
    """
    total = dropped = 0
    for path in reversed(dead_letters(directory)):
        with contextlib.suppress(FileNotFoundError):  # `agent resend` moves them meanwhile
            size = path.stat().st_size
            if total and total + size > max_bytes:
                path.unlink()
                dropped += 1
            total += size
    return dropped


def request_resend(directory: Path, paths: list[Path], now: int) -> tuple[list[Path], list[Path]]:
    """Have dead letters sent again; return those that will be, and those that are too old.

    The operator accepts windows of the last 7 days. Raises OSError.
    """
    folder = _made(directory / RESEND)
    recent = [path for path in paths if _window(path) > now - MAX_AGE]
    for path in recent:
        path.replace(folder / path.name)
    return recent, [path for path in paths if path not in recent]


def requeue(directory: Path, spool: Spool) -> None:
    """Queue the dead letters that are to be sent again. Raises OSError."""
    for path in _files(_made(directory / RESEND)):
        try:
            dead_letter = msgspec.json.decode(path.read_bytes(), type=DeadLetter)
        except UNDECODABLE:
            path.replace(path.with_suffix(".unreadable"))
            continue
        spool.requeue(
            Payload(
                _window(path), dead_letter.tag, dead_letter.txn_id, bytes(dead_letter.payload),
                dead_letter.revision,
            )
        )  # fmt: skip  # the fields in their order
        path.unlink()


def _made(folder: Path) -> Path:
    """Make a folder of the spool, if it is not there, and give it the owner of the spool.

    The agent could not read one that root made.
    """
    if folder.is_symlink():  # root would move files and rights wherever it leads
        raise NotADirectoryError(errno.ENOTDIR, "is a link and no folder", str(folder))
    folder.mkdir(mode=0o700, exist_ok=True)
    if os.geteuid() == 0:
        owner = folder.parent.stat()
        os.chown(folder, owner.st_uid, owner.st_gid, follow_symlinks=False)
    return folder


def _files(folder: Path) -> list[Path]:
    """Return the dead letters in a folder. Not by glob: it finds none in one it cannot read."""
    with contextlib.suppress(FileNotFoundError):
        return sorted(path for path in folder.iterdir() if path.suffix == ".json")
    return []


def _window(path: Path) -> int:
    start = path.name.partition("-")[0]
    return int(start) if start.isdigit() else 0
