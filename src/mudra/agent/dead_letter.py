"""Payloads that the operator refused for good, each with its answer, for a person to look at."""

import os
from pathlib import Path
from typing import Final

import msgspec

from mudra.agent.spool import Waiting

FOLDER: Final = "dead-letters"


class DeadLetter(msgspec.Struct, frozen=True, rename="camel"):
    """One refused payload."""

    txn_id: str
    tag: str
    window: str
    refused_at: str
    status: int
    answer: str
    payload: msgspec.Raw


def bury(directory: Path, waiting: Waiting, letter: DeadLetter) -> Path:
    """Write the letter, on the disk when this returns; the same letter twice is one."""
    folder = directory / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{waiting.window}-{waiting.tag}-{waiting.txn_id}.json"
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
