"""Payloads that the operator refused for good, each with its answer, for a person to look at.

When the reason is gone, `agent resend` moves letters to the folder `resend`; the
agent takes them from there into its spool, whether it runs at that moment or
starts later. A letter that is taken twice is answered `duplicate`.
"""

import os
from pathlib import Path
from typing import Final

import msgspec

from mudra.agent.spool.spool import MAX_AGE, QueuedPayload, Spool

FOLDER: Final = "dead-letters"
AGAIN: Final = "resend"


class DeadLetter(msgspec.Struct, frozen=True, rename="camel"):
    """One refused payload."""

    txn_id: str
    tag: str
    window: str
    refused_at: str
    status: int
    answer: str
    payload: msgspec.Raw


def write_dead_letter(directory: Path, queued: QueuedPayload, letter: DeadLetter) -> Path:
    """Write the letter, on the disk when this returns; the same letter twice is one."""
    folder = directory / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{queued.window}-{queued.tag}-{queued.txn_id}.json"
    draft = path.with_suffix(".draft")
    with draft.open("wb") as file:
        file.write(msgspec.json.encode(letter))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    return path


def dead_letters(directory: Path) -> list[Path]:
    """All letters, oldest window first."""
    return sorted((directory / FOLDER).glob("*.json"))


def request_resend(directory: Path, letters: list[Path], now: int) -> tuple[list[Path], list[Path]]:
    """Have these letters sent again: those that will be, and those that are too old for that.

    The operator takes windows of the last 7 days (decisions part 5). Raises OSError.
    """
    folder = directory / AGAIN
    folder.mkdir(mode=0o700, exist_ok=True)
    fresh = [letter for letter in letters if _window(letter) > now - MAX_AGE]
    for letter in fresh:
        letter.replace(folder / letter.name)
    return fresh, [letter for letter in letters if letter not in fresh]


def requeue(directory: Path, spool: Spool, now: int) -> int:
    """Put the letters that are to be sent again into the spool; how many there were.

    Raises OSError and sqlite3.Error; what is not taken stays for the next time.
    """
    taken = 0
    for path in sorted((directory / AGAIN).glob("*.json")):
        try:
            letter = msgspec.json.decode(path.read_bytes(), type=DeadLetter)
        except msgspec.DecodeError:
            path.replace(path.with_suffix(".unreadable"))
            continue
        spool.put_back(
            QueuedPayload(0, _window(path), letter.tag, letter.txn_id, now), bytes(letter.payload)
        )
        path.unlink()
        taken += 1
    return taken


def _window(letter: Path) -> int:
    start = letter.name.partition("-")[0]
    return int(start) if start.isdigit() else 0
