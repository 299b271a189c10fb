"""Issued entity tokens, packed: a block of up to 1,000 issues is one row of the audit chain.

Tokens are by far the most frequent event, and a row for each of them would be most of the
database. An issue is stored alone first; blocks are made of them within minutes. The event
`audit:tokens:pack` names a block with its SHA-256 and is sealed like any other.

A block's hash is over its statement, a JSON array `["mudra-audit-tokens-1", number, firstSeq,
lastSeq, firstAt, lastAt, [entityId, …], [mark, …]]` with times in microseconds since 1970,
followed by its data. The data are zlib's, of a JSON array of columns as `_Columns` has them, with
one value for each issue; `seq` and `at` are differences to the issue before. A program in any
language can follow that.
"""

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from typing import Final

import msgspec
from msgspec import Struct

from mudra.audit.event import AuditEntry, EventName, Outcome
from mudra.audit.search import ActedBy, AuditFilter, AuditRow

SECRET: Final = "secret"  # noqa: S105 -- the name of a credential
GRACE: Final = "grace"
KEY: Final = "private_key_jwt"
"""What the entity proved itself by: its secret, the one before in its grace period, or its key."""

BLOCK_ISSUES: Final = 1000
BLOCK_TOKENS: Final = 10_000
"""A block ends with the issue that reaches either."""
BLOCK_AGE: Final = timedelta(minutes=5)
"""The oldest issue waits so long for a block at most."""

_MAX_BYTES: Final = 1 << 26
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class TokenIssue(Struct, frozen=True):
    """Tokens that an entity got in the same half second by the same credential.

    `seq` is of the same series as the numbers of audit events, `txn_id` that of the first token.
    `version` is that of the secret; 0 where there was none.
    """

    seq: int
    at: datetime
    entity_id: str
    address: str
    txn_id: str
    credential: str
    version: int
    jtis: tuple[str, ...]

    def row(self) -> AuditRow:
        """Return it as the search shows an event."""
        detail: dict[str, object] = {"by": KEY} if self.credential == KEY else {}
        if self.version:
            detail["version"] = self.version
        return AuditRow(
            seq=self.seq,
            at=self.at,
            event=EventName.ENTITY_TOKEN_ISSUE.value,
            outcome=Outcome.SUCCESS.value,
            actor=f"entity:{self.entity_id}",
            entity_id=self.entity_id,
            address=self.address,
            txn_id=self.txn_id,
            reason=GRACE if self.credential == GRACE else "",
            detail={**detail, "count": len(self.jtis), "jtis": " ".join(self.jtis)},
        )

    @classmethod
    def of(cls, entry: AuditEntry) -> "TokenIssue":
        """Make one of a use case's entry; the database gives number and time."""
        return cls(
            0,
            _EPOCH,
            entry.entity_id,
            entry.caller.address,
            entry.caller.txn_id,
            str(entry.detail.get("by", SECRET)),
            int(entry.detail.get("version", 0)),
            tuple(str(entry.detail["jtis"]).split()),
        )


class TokenBlock(Struct, frozen=True):
    """Issues in a row of their own; `marks` let a search find transaction IDs and tokens."""

    number: int
    first_seq: int
    last_seq: int
    first_at: datetime
    last_at: datetime
    entities: Sequence[str]
    marks: Sequence[int]
    data: bytes

    def digest(self) -> str:
        """Return the SHA-256 that the chain has of it, in hexadecimal."""
        statement = [
            *("mudra-audit-tokens-1", self.number, self.first_seq, self.last_seq),
            *(_micros(self.first_at), _micros(self.last_at)),
            *(list(self.entities), list(self.marks)),
        ]
        return hashlib.sha256(msgspec.json.encode(statement) + self.data).hexdigest()

    def issues(self) -> list[TokenIssue]:
        """Read the issues, in their order; raises ValueError when they cannot be read."""
        try:
            unpacked = zlib.decompressobj().decompress(self.data, _MAX_BYTES)
            columns = msgspec.json.decode(unpacked, type=_Columns)
        except (zlib.error, msgspec.MsgspecError) as error:
            raise ValueError(f"token block {self.number} cannot be read") from error
        return list(columns.issues())


class _Columns(Struct, frozen=True, array_like=True):
    """Issues by column: equal values next to each other are what zlib packs best."""

    names: list[str]
    """Entities, addresses and credentials, to which the next three columns point."""
    entity: list[int]
    address: list[int]
    credential: list[int]
    seq: list[int]
    at: list[int]
    version: list[int]
    txn: list[str]
    jtis: list[str]

    def issues(self) -> Iterator[TokenIssue]:
        names = self.names
        rows = zip(
            *(accumulate(self.seq), accumulate(self.at), self.entity, self.address, self.txn),
            *(self.credential, self.version, self.jtis),
            strict=True,
        )
        for seq, at, entity, address, txn, credential, version, jtis in rows:
            yield TokenIssue(
                *(seq, _EPOCH + at * _MICROSECOND, names[entity], names[address], txn),
                *(names[credential], version, tuple(jtis.split())),
            )


def block_of(waiting: Sequence[TokenIssue], now: datetime) -> Sequence[TokenIssue]:
    """Return the issues, in order of `seq`, that make the next block now; none when it can wait."""
    tokens = accumulate(len(issue.jtis) for issue in waiting)
    reached = next((n for n, sum_ in enumerate(tokens, 1) if sum_ >= BLOCK_TOKENS), BLOCK_ISSUES)
    if len(waiting) >= reached:
        return waiting[:reached]
    oldest = min((issue.at for issue in waiting), default=now)
    return waiting if now - oldest >= BLOCK_AGE else []


def pack(number: int, issues: Sequence[TokenIssue]) -> TokenBlock:
    """Make a block of issues, which are at least one and in order of `seq`."""
    entities = sorted({issue.entity_id for issue in issues})
    others = {i.address for i in issues} | {i.credential for i in issues}
    names = [*entities, *sorted(others - set(entities))]
    place = {name: index for index, name in enumerate(names)}
    columns = _Columns(
        names,
        [place[i.entity_id] for i in issues],
        [place[i.address] for i in issues],
        [place[i.credential] for i in issues],
        _differences(i.seq for i in issues),
        _differences(_micros(i.at) for i in issues),
        [i.version for i in issues],
        [i.txn_id for i in issues],
        [" ".join(i.jtis) for i in issues],
    )
    return TokenBlock(
        number=number,
        first_seq=issues[0].seq,
        last_seq=issues[-1].seq,
        first_at=min(i.at for i in issues),
        last_at=max(i.at for i in issues),
        entities=entities,
        marks=_marks(issues),
        data=zlib.compress(msgspec.json.encode(columns), 9),
    )


def mark_of(text: str) -> int:
    """Return four bytes of a hash, signed, by which a search finds the blocks to look into."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big", signed=True)


def may_be_issue(which: AuditFilter) -> bool:
    """Return whether a search can find issues of tokens at all."""
    name = EventName.ENTITY_TOKEN_ISSUE.value
    by_name = (
        name.startswith(which.event[:-1]) if which.event.endswith("*") else which.event == name
    )
    by_actor = not which.actor or which.actor.startswith("entity:")
    by_kind = which.by in {None, ActedBy.PROGRAMS}
    by_outcome = which.outcome in {"", Outcome.SUCCESS.value}
    return (
        (not which.event or by_name) and by_actor and by_kind and by_outcome and not which.user_id
    )


def entities_of(which: AuditFilter) -> frozenset[str]:
    """Return the entity IDs that an issue must have, all of them; none when any will do."""
    found = (which.entity_id, which.actor.removeprefix("entity:"))
    return frozenset(entity_id for entity_id in found if entity_id)


def matches(which: AuditFilter, issue: TokenIssue) -> bool:
    """Return whether a search that can find issues asks for this one."""
    return (
        all(issue.entity_id == wanted for wanted in entities_of(which))
        and which.txn_id in {"", issue.txn_id}
        and (not which.jti or which.jti in issue.jtis)
        and (which.since is None or issue.at >= which.since)
        and (which.until is None or issue.at < which.until)
    )


def _marks(issues: Sequence[TokenIssue]) -> list[int]:
    texts = {issue.txn_id for issue in issues} | {jti for issue in issues for jti in issue.jtis}
    return sorted(mark_of(text) for text in texts)


def _differences(numbers: Iterable[int]) -> list[int]:
    return [later - earlier for earlier, later in pairwise([0, *numbers])]


def _micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND
