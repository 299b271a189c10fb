"""Archives of the audit as files: gzip over JSON lines, signed at the end.

The first line is the header: checkpoints, epochs, the number of the last block before. Each row
follows as its canonical JSON array (audit/chain.py) and its hash, each token block as a line of its
own before the row that names it. The last line has the SHA-256 of all lines before it, and its
keyed hash under the key of the checkpoints.
"""

import gzip
import hashlib
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from mudra.audit.chain import Checkpoint, CheckpointForged, Epoch, Row, SealedRow, canonical
from mudra.audit.event import AuditEvent, EventName, Outcome
from mudra.audit.ports import ArchiveParts, Blocks
from mudra.audit.token_issues import TokenBlock
from mudra.storage.backup.archive import make_durable, open_private
from mudra.storage.crypto.data_encryption import DataEncryption

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class _Header(Struct, frozen=True, tag="mudra-audit-archive-1"):
    after: Checkpoint
    until: Checkpoint
    epochs: list[Epoch]
    first_block: int
    dropped: int


class _Row(Struct, frozen=True, array_like=True):
    """A row's canonical bytes, read."""

    number: int
    row_id: int
    epoch: int
    xid: int
    event: EventName
    outcome: Outcome
    at: int
    actor: str
    entity_id: str
    address: str
    txn_id: str
    reason: str
    detail: dict[str, str | int]

    def row(self) -> Row:
        event = AuditEvent(
            event=self.event,
            outcome=self.outcome,
            at=_EPOCH + self.at * timedelta(microseconds=1),
            actor=self.actor,
            txn_id=self.txn_id,
            entity_id=self.entity_id,
            address=self.address,
            reason=self.reason,
            detail=self.detail,
        )
        return Row(self.number, self.row_id, event, self.xid, self.epoch)


class _Canonical(Struct, frozen=True, tag="row"):
    """A row as it is written."""

    row: msgspec.Raw
    hash: str


class _Sealed(Struct, frozen=True, tag="row"):
    """The same as it is read."""

    row: _Row
    hash: str


class _Block(Struct, frozen=True, tag="block"):
    block: TokenBlock


class _End(Struct, frozen=True, tag="end"):
    sha256: str
    mac: str


_Line = _Header | _Sealed | _Block | _End
_LINE: Final = msgspec.json.Decoder(_Line)


class ArchiveFiles:
    """The files of archives in a folder."""

    def __init__(self, folder: Path, encryption: DataEncryption) -> None:
        self._folder = folder
        self._encryption = encryption

    async def write(
        self, parts: ArchiveParts, rows: AsyncIterator[SealedRow], blocks: Blocks
    ) -> str:
        """Write a file, durable before this returns, and return its name."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = f"audit-{parts.after.count + 1:012}-{parts.until.count:012}.jsonl.gz"
        partial = self._folder / f"{name}.part"
        try:
            with open_private(partial) as file:
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                    await self._write(packed, parts, rows, blocks)
                make_durable(file, partial, self._folder / name)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        return name

    async def _write(
        self,
        file: gzip.GzipFile,
        parts: ArchiveParts,
        rows: AsyncIterator[SealedRow],
        blocks: Blocks,
    ) -> None:
        digest = hashlib.sha256()

        def line(content: Struct) -> None:
            text = msgspec.json.encode(content) + b"\n"
            digest.update(text)
            file.write(text)

        epochs, dropped = list(parts.epochs), await blocks.dropped()
        line(_Header(parts.after, parts.until, epochs, parts.first_block, dropped))
        async for sealed in rows:
            event = sealed.row.event
            if event.event is EventName.AUDIT_TOKENS_PACK:
                number = int(event.detail.get("block", 0))
                for block in await blocks.blocks(number, number):
                    line(_Block(block))
            line(_Canonical(msgspec.Raw(canonical(sealed.row)), sealed.hash.hex()))
        mac = self._encryption.checkpoint_mac(_statement(digest.digest())).hex()
        file.write(msgspec.json.encode(_End(digest.hexdigest(), mac)) + b"\n")

    def read(self, name: str) -> "ArchiveContents":
        """Open a file; raises CheckpointForged when it was altered, OSError."""
        return ArchiveContents(self._folder / name, self._encryption)


class ArchiveContents:
    """A file whose signature was checked when it was opened."""

    def __init__(self, path: Path, encryption: DataEncryption) -> None:
        self._path = path
        self._read = dict[int, TokenBlock]()
        self._check(encryption)
        header = next(self._lines(), None)
        if not isinstance(header, _Header):
            raise CheckpointForged(f"{path} is no archive of the audit")
        self._dropped = header.dropped
        self.parts = ArchiveParts(header.after, header.until, header.epochs, header.first_block)
        self.sha256 = _sha256_of(path)

    async def rows(self) -> AsyncIterator[SealedRow]:
        """Its rows in order; raises CheckpointForged when one cannot be read."""
        for line in self._lines():
            if isinstance(line, _Block):
                self._read[line.block.number] = line.block
            elif isinstance(line, _Sealed):
                yield SealedRow(line.row.row(), bytes.fromhex(line.hash))

    async def blocks(self, first: int, last: int) -> Sequence[TokenBlock]:
        """Give the blocks with these numbers, once: their lines are before those of their rows."""
        numbers = range(first, last + 1)
        return [self._read.pop(number) for number in numbers if number in self._read]

    async def dropped(self) -> int:
        """Return up to which block they had been dropped when the file was written."""
        return self._dropped

    def _lines(self) -> Iterator[_Line]:
        with gzip.open(self._path) as file:
            for text in file:
                yield _LINE.decode(text)

    def _check(self, encryption: DataEncryption) -> None:
        digest, before = hashlib.sha256(), b""
        try:
            with gzip.open(self._path) as file:
                for text in file:
                    digest.update(before)
                    before = text
            end = _LINE.decode(before)
            assert isinstance(end, _End)
            mac = bytes.fromhex(end.mac)
        except (EOFError, gzip.BadGzipFile, zlib.error, ValueError, AssertionError) as e:
            raise CheckpointForged(f"{self._path} cannot be read: {e}") from e
        if not encryption.is_checkpoint_mac(_statement(digest.digest()), mac):
            raise CheckpointForged(f"{self._path} was altered")


def _statement(digest: bytes) -> bytes:
    return b"mudra-audit-archive-file-1" + digest


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
