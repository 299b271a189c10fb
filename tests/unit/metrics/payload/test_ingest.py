"""Replayed, shuffled, duplicated, late and replaced windows add up as a plain recount does."""

from dataclasses import dataclass, field
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.metrics.metrics_payloads import (
    SOON_AFTER,
    WINDOW_START,
    notification_metrics,
    request_metrics,
)

from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.ingest_rule import (
    Accept,
    Duplicate,
    IngestStatus,
    Known,
    PushKey,
    Receipt,
    Replace,
    TxnIdReused,
    WindowKey,
    decide,
    keys_of,
    status_of,
)
from mudra.metrics.payload.report import encode_report
from mudra.metrics.payload.validation import CheckedReport, check_report


@dataclass
class Shelf:
    """The least storage that carries decisions out."""

    pushes: dict[PushKey, Receipt] = field(default_factory=dict)
    current: dict[WindowKey, Receipt] = field(default_factory=dict)
    figures: dict[WindowKey, CheckedReport] = field(default_factory=dict)
    former: list[CheckedReport] = field(default_factory=list)

    def push(self, checked: CheckedReport, now=SOON_AFTER):
        push, window = keys_of(checked)
        known = Known(self.pushes.get(push), self.current.get(window))
        decision = decide(known, checked, f"r{len(self.pushes)}", now)
        match decision:
            case Accept(receipt) | Replace(receipt):
                if window in self.figures:
                    self.former.append(self.figures[window])
                self.pushes[push] = self.current[window] = receipt
                self.figures[window] = checked
            case Duplicate(receipt, _, remember=True):
                self.pushes[push] = receipt
        return decision


def checked_report(txn="t1", seed=1, at=0, aa="aa@sakshi", tag=Tag.REQUESTS) -> CheckedReport:
    start = WINDOW_START + timedelta(minutes=10 * at)
    build = request_metrics if tag is Tag.REQUESTS else notification_metrics
    payload = build(fips=1, aa_id=aa, txn_id=txn, start=start, seed=seed)
    checked = check_report(encode_report(payload), start + timedelta(minutes=11))
    assert isinstance(checked, CheckedReport)
    return checked


def test_a_new_window_is_accepted():
    decision = Shelf().push(checked_report())

    assert isinstance(decision, Accept)
    assert decision.receipt.version == 1
    assert status_of(decision) is IngestStatus.ACCEPTED


def test_the_same_push_again_gets_the_same_receipt():
    shelf = Shelf()
    first = shelf.push(checked_report())
    again = shelf.push(checked_report(), SOON_AFTER + timedelta(hours=5))

    assert again == Duplicate(first.receipt, "t1", remember=False)
    assert status_of(again) is IngestStatus.DUPLICATE


def test_the_same_content_under_a_new_txn_id_is_a_duplicate_and_the_txn_id_is_remembered():
    shelf = Shelf()
    first = shelf.push(checked_report("t1"))

    assert shelf.push(checked_report("t2")) == Duplicate(first.receipt, "t2", remember=True)
    assert isinstance(shelf.push(checked_report("t2", seed=2)), TxnIdReused)


def test_a_txn_id_with_other_content_is_refused_and_changes_nothing():
    shelf = Shelf()
    shelf.push(checked_report())
    before = dict(shelf.figures)

    for other in (
        checked_report(seed=2),
        checked_report(at=1),
        checked_report(tag=Tag.NOTIFICATIONS),
    ):
        assert isinstance(shelf.push(other), TxnIdReused)
    assert shelf.figures == before


def test_other_content_under_a_new_txn_id_replaces_and_keeps_the_former():
    shelf = Shelf()
    first = shelf.push(checked_report("t1"))
    second = shelf.push(checked_report("t2", seed=2))

    assert isinstance(second, Replace)
    assert (second.previous, second.receipt.version) == (first.receipt, 2)
    assert status_of(second) is IngestStatus.REPLACED
    assert [old.report.txn_id for old in shelf.former] == ["t1"]


def test_a_replaced_push_that_comes_again_does_not_undo_its_replacement():
    shelf = Shelf()
    shelf.push(checked_report("t1"))
    shelf.push(checked_report("t2", seed=2))
    again = shelf.push(checked_report("t1"))

    assert isinstance(again, Duplicate)
    assert [kept.report.txn_id for kept in shelf.figures.values()] == ["t2"]


def test_two_aas_may_use_the_same_txn_id():
    shelf = Shelf()
    shelf.push(checked_report())

    assert isinstance(shelf.push(checked_report(aa="other@aa")), Accept)


def test_a_window_is_late_when_it_comes_ten_minutes_after_its_end():
    receipt = Shelf().push(checked_report()).receipt
    end = WINDOW_START + timedelta(minutes=10)

    assert not replace(receipt, received_at=end + timedelta(minutes=10)).late
    assert replace(receipt, received_at=end + timedelta(minutes=10, seconds=1)).late


POOL = [
    checked_report(f"t{txn}", seed, at, aa, tag)
    for txn in range(4)
    for seed in (1, 2)
    for at in (0, 1)
    for aa in ("a@aa", "b@aa")
    for tag in Tag
]


@given(st.lists(st.sampled_from(POOL), max_size=40))
def test_any_stream_of_pushes_ends_with_the_figures_of_a_plain_recount(stream):
    """The recount: of each AA's pushes the first use of a txnId counts, the last of a window wins."""
    shelf = Shelf()
    for checked in stream:
        shelf.push(checked)

    first_use: dict[tuple[str, str], CheckedReport] = {}
    for checked in stream:
        first_use.setdefault((checked.report.aa_id, checked.report.txn_id), checked)
    recount: dict[tuple[object, ...], bytes] = {}
    for checked in first_use.values():
        recount[checked.report.aa_id, checked.tag, checked.window] = checked.content_hash
    kept = {
        (key.aa_id, key.tag, key.window): checked.content_hash
        for key, checked in shelf.figures.items()
    }
    assert kept == recount


@given(st.permutations([checked_report(f"t{at}", at=at, seed=at) for at in range(4)] * 3))
def test_replays_in_any_order_count_each_window_once(stream):
    shelf = Shelf()
    answers = [shelf.push(checked) for checked in stream]

    assert sum(isinstance(answer, Accept) for answer in answers) == 4
    assert sum(isinstance(answer, Duplicate) for answer in answers) == 8
    total = sum(kept.report.fips[0].metrics[0].counts[0] for kept in shelf.figures.values())
    assert total == 4 * 400
