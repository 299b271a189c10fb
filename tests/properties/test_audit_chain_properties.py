from datetime import UTC

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.audit.audit_rows import NOON, checkpoint, sealed
from tests.support.depth import examples

from mudra.audit.chain import Broken, Checkpoint, Intact, Row, canonical, verify
from mudra.audit.event import AuditEvent, EventName, Outcome

pytestmark = pytest.mark.deeper

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
details = st.dictionaries(
    words.filter(
        lambda w: (
            not {"secret", "password", "token", "link", "authorization", "cookie"}
            & set(w.lower().split("_"))
        )
    ),
    words | st.integers(-(2**53), 2**53),
    max_size=3,
)
events = st.builds(
    AuditEvent,
    event=st.sampled_from(EventName),
    outcome=st.sampled_from(Outcome),
    at=st.datetimes(timezones=st.just(UTC)),
    actor=words,
    txn_id=words,
    entity_id=words,
    address=words,
    reason=words,
    detail=details,
)
trails = st.lists(events, min_size=1, max_size=8).map(
    lambda es: sealed(Row(n, n * 10, e) for n, e in enumerate(es, 1))
)


@given(events, events)
def test_different_rows_never_have_the_same_bytes(one, other):
    same = canonical(Row(1, 1, one)) == canonical(Row(1, 1, other))

    assert same is (one == other)


@settings(max_examples=examples(8))
@given(trails, st.data())
def test_any_other_list_of_these_rows_is_broken(chain, data):
    order = data.draw(st.lists(st.sampled_from(range(len(chain))), max_size=len(chain) + 2))
    rows = [chain[place] for place in order]

    verdict = verify(rows, [checkpoint(chain, len(chain))])

    assert isinstance(verdict, Intact if order == list(range(len(chain))) else Broken)


@settings(max_examples=examples(8))
@given(trails, trails)
def test_another_trail_never_passes_for_this_one(chain, other):
    verdict = verify(other, [Checkpoint(len(chain), chain[-1].hash, NOON)])

    same = [s.hash for s in chain] == [s.hash for s in other[: len(chain)]]
    assert isinstance(verdict, Intact) is same
