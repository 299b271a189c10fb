import hashlib
import itertools
import json
import time
from datetime import timedelta

import pytest
from tests.support.audit.audit_rows import NOON, checkpoint, event, row, sealed, trail

from mudra.audit.chain import (
    GENESIS,
    START,
    Broken,
    Checkpoint,
    Fault,
    Intact,
    Row,
    SealedRow,
    canonical,
    checkpoint_due,
    seal,
    verify,
)
from mudra.audit.event import EventName, Outcome

CHANGES = {
    "event": EventName.ENTITY_TOKEN_REFUSE,
    "outcome": Outcome.REFUSED,
    "at": NOON + timedelta(days=1),
    "actor": "entity:OTHER",
    "txn_id": "another",
    "entity_id": "",
    "address": "192.0.2.8",
    "reason": "Unauthorized",
    "detail": {"jti": "another"},
}
LENGTH = 12


def tampered(chain, number, **changes):
    """The chain with one row rewritten and its stored hash left as it was."""
    old = chain[number - 1]
    new = Row(number, old.row.row_id, event(number, **changes))
    return [*chain[: number - 1], SealedRow(new, old.hash), *chain[number:]]


def test_an_untouched_chain_is_intact():
    chain = trail(LENGTH)

    verdict = verify(chain, [checkpoint(chain, 4), checkpoint(chain, 9)])

    assert verdict == Intact(LENGTH, chain[-1].hash, vouched=9)


def test_an_empty_chain_is_intact():
    assert verify([], []) == Intact(0, GENESIS, 0)


@pytest.mark.parametrize(
    ("column", "number"), list(itertools.product(CHANGES, range(1, LENGTH + 1)))
)
def test_a_change_of_any_column_in_any_row_is_named(column, number):
    forged = tampered(trail(LENGTH), number, **{column: CHANGES[column]})

    assert verify(forged, []) == Broken(number, Fault.CHANGED, 0)


@pytest.mark.parametrize("number", range(1, LENGTH + 1))
def test_a_change_of_the_tables_own_id_is_named(number):
    chain = trail(LENGTH)
    old = chain[number - 1]
    chain[number - 1] = SealedRow(Row(number, 7, old.row.event), old.hash)

    assert verify(chain, []) == Broken(number, Fault.CHANGED, 0)


@pytest.mark.parametrize("number", range(1, LENGTH + 1))
def test_a_change_of_any_hash_is_named(number):
    chain = trail(LENGTH)
    chain[number - 1] = SealedRow(chain[number - 1].row, bytes(32))

    assert verify(chain, []) == Broken(number, Fault.CHANGED, 0)


@pytest.mark.parametrize("number", range(1, LENGTH))
def test_a_removed_row_is_named(number):
    chain = trail(LENGTH)
    del chain[number - 1]

    assert verify(chain, []) == Broken(number, Fault.MISPLACED, 0)


@pytest.mark.parametrize("number", range(1, LENGTH))
def test_a_removed_row_is_named_even_when_the_rest_is_renumbered(number):
    chain = trail(LENGTH)
    del chain[number - 1]
    chain = [
        SealedRow(Row(place, old.row.row_id, old.row.event), old.hash)
        for place, old in enumerate(chain, 1)
    ]

    assert verify(chain, []) == Broken(number, Fault.CHANGED, 0)


@pytest.mark.parametrize("number", range(1, LENGTH + 1))
def test_an_added_row_is_named(number):
    chain = trail(LENGTH)
    chain.insert(number - 1, chain[0])

    verdict = verify(chain, [])

    assert verdict == Broken(2 if number == 1 else number, Fault.MISPLACED, 0)


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(range(1, LENGTH + 1), 2)))
def test_two_swapped_rows_are_named(one, other):
    chain = trail(LENGTH)
    chain[one - 1], chain[other - 1] = chain[other - 1], chain[one - 1]

    assert verify(chain, []) == Broken(one, Fault.MISPLACED, 0)


@pytest.mark.parametrize("left", range(10))
def test_a_cut_tail_is_found_by_the_checkpoint(left):
    chain = trail(LENGTH)

    verdict = verify(chain[:left], [checkpoint(chain, 3), checkpoint(chain, 10)])

    assert verdict == Broken(left + 1, Fault.CUT, 3 if left >= 3 else 0)


def test_an_older_copy_put_back_is_found_by_the_checkpoint():
    chain = trail(LENGTH)
    old_copy, published = chain[:6], [checkpoint(chain, 5), checkpoint(chain, 11)]

    assert verify(old_copy, published) == Broken(7, Fault.CUT, 5)


def test_an_older_copy_that_went_on_differently_is_found_by_the_checkpoint():
    chain = trail(LENGTH)
    published = [checkpoint(chain, 5), checkpoint(chain, 11)]
    others = [row(number, actor="entity:OTHER") for number in range(7, LENGTH + 1)]
    grown = chain[:6] + sealed(others, chain[5].hash)

    assert verify(grown, published) == Broken(6, Fault.REPLACED, 5)


def test_a_table_forged_as_a_whole_is_found_by_the_checkpoint():
    published = [checkpoint(trail(LENGTH), 5)]
    forged = sealed(row(number, actor="system") for number in range(1, LENGTH + 1))

    assert verify(forged, published) == Broken(1, Fault.REPLACED, 0)


def test_two_checkpoints_that_contradict_each_other_are_found():
    chain = trail(LENGTH)

    verdict = verify(chain, [checkpoint(chain, 5), Checkpoint(5, bytes(32), NOON)])

    assert isinstance(verdict, Broken)


def test_checking_can_start_at_a_checkpoint():
    chain = trail(LENGTH)

    assert verify(chain[5:], [], start=checkpoint(chain, 5)) == Intact(
        LENGTH, chain[-1].hash, vouched=5
    )
    assert verify(chain[6:], [], start=checkpoint(chain, 5)) == Broken(6, Fault.MISPLACED, 5)


def test_sealing_in_batches_gives_the_same_chain():
    chain = trail(LENGTH)
    rows = [s.row for s in chain]

    first = seal(rows[:5], GENESIS)

    assert first + seal(rows[5:], first[-1]) == [s.hash for s in chain]


def test_the_chain_can_be_followed_without_our_code():
    one = row(1, actor='entity:É\u2028\x1f"\\\n', detail={"b": 2, "a": "x"})
    micros = round((one.event.at.timestamp()) * 1_000_000)
    fields = [
        1, 101, 1, 0, "entity:token:issue", "success", micros, 'entity:É\u2028\x1f"\\\n',
        "HDFC-FIP", "192.0.2.7", "txn-1", "", {"a": "x", "b": 2},
    ]  # fmt: skip
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    assert canonical(one) == text.encode()
    assert seal([one], GENESIS) == [hashlib.sha256(GENESIS + text.encode()).digest()]


def test_the_statement_to_be_signed_names_epoch_count_head_and_time():
    assert (
        Checkpoint(2, b"\x01\x02", NOON).statement()
        == b'["mudra-audit-2",1,2,"0102",1772366400000000]'
    )


@pytest.mark.parametrize(
    ("count", "minutes", "due"),
    [(0, 60, False), (1, 9, False), (1, 10, True), (999, 0, False), (1000, 0, True)],
)
def test_a_checkpoint_is_due_after_1000_rows_or_10_minutes(count, minutes, due):
    last = Checkpoint(0, GENESIS, NOON)

    assert checkpoint_due(last, count, NOON + timedelta(minutes=minutes)) is due


def test_the_first_row_makes_a_checkpoint_due():
    assert checkpoint_due(START, 1, NOON)


def test_a_million_rows_would_be_checked_within_a_minute():
    chain = trail(20_000)
    began = time.process_time()

    assert isinstance(verify(chain, []), Intact)

    assert (time.process_time() - began) * 50 < 60
