"""A service that is backed up under load, with a journal of what it acknowledged."""

import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tests.faults.side_by_side import SideBySide
from tests.support.forked_command import run_mudra
from tests.support.members import Member
from tests.support.metrics.metrics_push import PushingAa
from tests.support.service import Service

from mudra.metrics.payload.catalogue import WINDOW


@dataclass
class Acknowledged:
    """One answer: what it was about, when it was asked for, and when the answer was there."""

    about: str
    asked: float
    answered: float


class Load(SideBySide):
    """Resets and pushes one after the other, and a journal of the answers.

    Each member is reset once and each window pushed once. The last `KEPT_BACK` of either wait for
    `backed_up`, so that a machine that is quick has acts left after the backup.
    """

    KEPT_BACK = 4
    WINDOWS = 400

    def __init__(self, members: list[tuple[Member, dict[str, str]]], aa: PushingAa) -> None:
        super().__init__([self._reset, self._push])
        self.members = members
        self.aa = aa
        self.backed_up = threading.Event()
        self.resets: list[Acknowledged] = []
        self.pushes: list[Acknowledged] = []

    def wait_for_more(self, resets: int, pushes: int) -> None:
        resets, pushes = len(self.resets) + resets, len(self.pushes) + pushes
        self.aa.service.wait_until(
            lambda: len(self.resets) >= resets and len(self.pushes) >= pushes,
            lambda: f"{len(self.resets)} resets of {resets}, {len(self.pushes)} pushes of {pushes}",
        )

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.backed_up.set()
        super().__exit__()

    def _goes_on(self, left: int) -> bool:
        if left <= self.KEPT_BACK:
            self.backed_up.wait()
        return not self.over.is_set()

    def _reset(self) -> None:
        for place, (member, headers) in enumerate(self.members):
            if not self._goes_on(len(self.members) - place):
                return
            asked = time.monotonic()
            answer = member.reset(headers)
            assert answer.status_code == 200, answer.text
            self.resets.append(Acknowledged(member.entity_id, asked, time.monotonic()))

    def _push(self) -> None:
        for place in range(self.WINDOWS):
            if not self._goes_on(self.WINDOWS - place):
                return
            payload = self.aa.requests(self.aa.last_window() - place * WINDOW, seed=place)
            asked = time.monotonic()
            answer = self.aa.push(payload)
            assert answer.status_code == 200, answer.text
            self.pushes.append(Acknowledged(payload.txn_id, asked, time.monotonic()))


@dataclass
class Kept:
    """A backup that was made under load, and the second place of the service's audit."""

    file: Path
    identity: Path
    load: Load
    began: float
    ended: float
    service: Service
    revoked: str
    old_token: dict[str, str]
    secret: str

    def place(self, folder: Path) -> Path:
        """Give a new data directory what does not come out of a backup: key and second place."""
        folder.mkdir(mode=0o700)
        for name in ("master.key", "audit-checkpoints.jsonl"):
            (folder / name).write_bytes((self.service.data_dir / name).read_bytes())
            (folder / name).chmod(0o600)
        return folder

    def restore(self, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
        return run_mudra(
            *("restore", str(self.file), "--identity", str(self.identity), *words),
            MUDRA_DATA_DIR=str(folder),
        )
