"""Ranges of the audit that were written to signed files, and may be dropped from the database.

A file holds the rows from one checkpoint to another, with their hashes and the token blocks that
they name. It is read back and verified like the audit itself before it counts. From then on a
verification may begin at the checkpoint where the file ends.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.audit_chain import AuditChain
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.chain import START, Broken, Checkpoint, CheckpointForged, SealedRow, verify
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.ports import Archive, ArchiveParts
from mudra.audit.proof.archive_files import ArchiveContents, ArchiveFiles
from mudra.audit.proof.block_check import BlockCheck

_PAGE: Final = 500


class Archived(Struct, frozen=True):
    """The archived rows, after they were read back."""

    archive: Archive
    rows: int


async def archive_next(
    chain: AuditChain, audit_log: AuditLog, caller: Caller, files: ArchiveFiles, before: datetime
) -> Archived | Broken | None:
    """Write the rows after the last archive to a file, up to the newest checkpoint before a time.

    Broken when the rows, or what was read back, are not those that were sealed. None when no
    checkpoint of that age is after the last archive.
    """
    known = await chain.archives.all()
    start, last_block = (known[-1].until, known[-1].last_block) if known else (START, 0)
    due = [c for c in await chain.checkpoints.all() if c.count > start.count and c.at <= before]
    if not due:
        return None
    until = max(due, key=lambda one: one.count)
    parts = ArchiveParts(start, until, await chain.ledger.epochs(), last_block)
    name = await files.write(
        parts, chain.ledger.sealed(start.count, until.count), chain.token_issues
    )
    read = files.read(name)
    found = await verify_archive(read)
    if isinstance(found, Broken):
        return found
    archive = Archive(until, found, name, read.sha256, await chain.ledger.now())
    await chain.archives.add(archive)
    rows = until.count - start.count
    detail: dict[str, str | int] = {
        "after": start.count,
        "until": until.count,
        "file": name,
        "sha256": read.sha256,
    }
    await audit_log.append(AuditEntry(EventName.AUDIT_RANGE_ARCHIVE, caller, detail=detail))
    return Archived(archive, rows)


async def verify_archive(contents: ArchiveContents) -> int | Broken:
    """Verify every row and token block of a file; give the number of the last block."""
    parts = contents.parts
    blocks = BlockCheck(contents, parts.first_block)
    head, page = parts.after, list[SealedRow]()
    async for row in contents.rows():
        page.append(row)
        if len(page) == _PAGE:
            found = await _verify_page(page, head, parts, blocks, last=False)
            if isinstance(found, Broken):
                return found
            head, page = found, []
    found = await _verify_page(page, head, parts, blocks, last=True)
    return found if isinstance(found, Broken) else blocks.last


async def _verify_page(
    page: Sequence[SealedRow],
    head: Checkpoint,
    parts: ArchiveParts,
    blocks: BlockCheck,
    *,
    last: bool,
) -> Checkpoint | Broken:
    found = verify(page, [parts.until] if last else [], head, parts.epochs)
    if isinstance(found, Broken):
        return found
    fault = await blocks.fault(page, head.count)
    return fault or Checkpoint(found.count, found.head, head.at, found.epoch)


async def check_archives(chain: AuditChain, files: ArchiveFiles) -> int | Broken:
    """Verify each file that the database knows, and that each begins where the last one ends.

    Gives the rows in them; raises CheckpointForged, OSError.
    """
    end = START
    for archive in await chain.archives.all():
        contents = files.read(archive.name)
        if contents.parts.after != end or contents.sha256 != archive.sha256:
            raise CheckpointForged(f"{archive.name} is not the file that was written")
        found = await verify_archive(contents)
        if isinstance(found, Broken):
            return found
        end = archive.until
    return end.count


async def drop_archived(
    chain: AuditChain, audit_log: AuditLog, kept: timedelta, now: datetime
) -> int:
    """Drop rows that were archived so long ago, a batch at a time; give their number.

    Rows stay as long as a token block that one of them names is in the database.
    """
    dropped_blocks = await chain.token_issues.dropped()
    due = [
        one
        for one in await chain.archives.all()
        if one.until.at <= now - kept and one.last_block <= dropped_blocks
    ]
    if not due:
        return 0
    dropped = await chain.archives.drop(due[-1].until.count)
    first = await chain.ledger.first()
    if dropped and first > due[-1].until.count:
        detail: dict[str, str | int] = {"until": due[-1].until.count, "days": kept.days}
        await audit_log.append(
            AuditEntry(EventName.AUDIT_RANGE_DROP, Caller("system"), detail=detail)
        )
    return dropped


async def archived_start(chain: AuditChain, known: Sequence[Checkpoint]) -> tuple[Checkpoint, int]:
    """Return where the verification of the database begins, and the last block before that.

    Raises CheckpointForged when rows are gone that no archive has, or the archive ends at a
    checkpoint that is not known.
    """
    first = await chain.ledger.first()
    if first <= 1:
        return START, 0
    archive = next((a for a in await chain.archives.all() if a.until.count >= first - 1), None)
    if archive is None:
        return START, 0  # the rows that are missing are named by the verification
    if archive.until not in known:
        raise CheckpointForged(f"archive {archive.name} ends at a checkpoint that is unknown")
    return archive.until, archive.last_block
