"""Issued tokens packed into blocks: nothing is lost, and when a block is due."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mudra.audit.token_issues import (
    GRACE,
    KEY,
    SECRET,
    TokenBlock,
    TokenIssue,
    block_of,
    mark_of,
    pack,
)

BLOCK_AGE = timedelta(minutes=5)
BLOCK_ISSUES = 1000

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
words = st.text(st.characters(blacklist_categories=("Cs", "Z", "C")), min_size=1, max_size=12)
issues = st.builds(
    TokenIssue,
    st.integers(1, 2**62),
    st.datetimes(datetime(2020, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    words,
    st.one_of(st.just(""), words),
    st.text(st.characters(blacklist_categories=("Cs",)), max_size=12),
    st.sampled_from([SECRET, GRACE, KEY]),
    st.integers(0, 2**31 - 1),
    st.lists(words, min_size=1, max_size=3).map(tuple),
)


def issue(seq: int = 1, tokens: int = 1, at: datetime = NOON) -> TokenIssue:
    jtis = tuple(f"{seq}-{n}" for n in range(tokens))
    return TokenIssue(seq, at, "KAVERI-FIP", "192.0.2.7", f"txn-{seq}", SECRET, 1, jtis)


@given(
    st.lists(issues, min_size=1, max_size=20).map(lambda some: sorted(some, key=lambda i: i.seq))
)
def test_a_block_gives_back_what_was_packed(some: list[TokenIssue]) -> None:
    block = pack(7, some)

    assert block.issues() == some
    assert all(mark_of(one.txn_id) in block.marks for one in some)
    assert all(mark_of(jti) in block.marks for one in some for jti in one.jtis)


def test_a_block_is_due_when_it_is_full_or_its_oldest_issue_has_waited() -> None:
    full = [issue(n) for n in range(BLOCK_ISSUES)]
    many = [issue(1, 4000), issue(2, 6000), issue(3)]

    assert block_of(full, NOON) == full
    assert block_of(full[1:], NOON) == []
    assert block_of(many, NOON) == many[:2]
    assert block_of(full[:2], NOON + BLOCK_AGE) == full[:2]
    assert block_of([], NOON + BLOCK_AGE) == []


@pytest.mark.parametrize("data", [b"", b"no zlib", pack(1, [issue()]).data[:-9]])
def test_a_block_that_cannot_be_read_says_so(data: bytes) -> None:
    block: TokenBlock = replace(pack(1, [issue()]), data=data)

    with pytest.raises(ValueError, match="token block 1 cannot be read"):
        block.issues()


def test_a_token_costs_few_bytes() -> None:
    some = [
        TokenIssue(
            *(n, NOON + timedelta(milliseconds=500 * n), f"MEMBER-{n % 600}", "192.0.2.7"),
            *(str(uuid.uuid4()), SECRET, 1, (str(uuid.uuid4()),)),
        )
        for n in range(BLOCK_ISSUES)
    ]

    assert len(pack(1, some).data) < 50 * BLOCK_ISSUES
