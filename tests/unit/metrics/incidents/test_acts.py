"""What people decide about an incident, next to what the evidence says."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace
from tests.support.metrics.incidents import WINDOW, an_incident

from mudra.metrics.incidents.acts.act import (
    INCIDENT_NOT_OPEN,
    INCIDENT_NOT_OVER,
    Acknowledged,
    Act,
    ActCommand,
    ActKind,
    decision_after,
    refusal_of,
)
from mudra.metrics.incidents.acts.story import post_mortem_of, story_of
from mudra.metrics.incidents.contrast import contrasts
from mudra.metrics.incidents.incident import AaCalls, Ending, Fip, Incident, Path, StoredIncident
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.ports import Pair
from mudra.shared.refusal import PlainRefusal, ValueRefused

MAX_ACTS = 500
MAX_ROWS = 12

BEGAN = datetime(2026, 11, 23, 2, tzinfo=UTC)
LATER = BEGAN + timedelta(hours=1)


@dataclass
class Case:
    """An incident, and how it looks to people after each step."""

    stored: StoredIncident = field(
        default_factory=lambda: StoredIncident("1", an_incident(Fip("F"), BEGAN), None)
    )

    def by_evidence(self, **changes: object) -> None:
        self.stored = replace(self.stored, incident=replace(self.stored.incident, **changes))

    def act(self, kind: ActKind, at: datetime) -> None:
        assert refusal_of(self.stored, ActCommand(kind, "why"), 0) is None
        decision = decision_after(self.stored, kind)
        self.stored = replace(self.stored, decision=decision, decided_at=at)


def test_a_close_by_hand_holds_until_a_window_that_begins_later_is_bad() -> None:
    case = Case()

    case.act(ActKind.CLOSE, LATER)
    assert not case.stored.is_open
    case.by_evidence(last_bad=LATER - timedelta(minutes=5))
    assert not case.stored.is_open, "the window had begun before"

    case.by_evidence(last_bad=LATER + timedelta(minutes=5))
    assert case.stored.is_open


def test_an_incident_that_is_reopened_stays_open_until_someone_closes_it() -> None:
    case = Case()
    case.by_evidence(ended=LATER, ending=Ending.RECOVERED)
    assert not case.stored.is_open

    case.act(ActKind.REOPEN, LATER)
    assert case.stored.is_open
    case.act(ActKind.CLOSE, LATER + WINDOW)
    assert not case.stored.is_open


def test_the_evidence_alone_decides_again_when_a_close_is_taken_back() -> None:
    case = Case()
    case.act(ActKind.CLOSE, LATER)
    case.act(ActKind.REOPEN, LATER + WINDOW)
    assert case.stored.is_open
    case.by_evidence(ended=LATER + 2 * WINDOW, ending=Ending.RECOVERED)
    assert not case.stored.is_open


@pytest.mark.parametrize(
    ("command", "refusal"),
    [
        (ActCommand(ActKind.COMMENT, "  "), ValueRefused),
        (ActCommand(ActKind.COMMENT, "x" * 4_001), ValueRefused),
        (ActCommand(ActKind.POST_MORTEM, "x" * 4_001), None),
        (ActCommand(ActKind.COMMENT, "a line\nand another"), None),
        (ActCommand(ActKind.COMMENT, "a bell\a"), ValueRefused),
        (ActCommand(ActKind.REOPEN, "why"), PlainRefusal),
        (ActCommand(ActKind.ASSIGN, owner="a@b.example", instead_of="operator:x"), Acknowledged),
        (ActCommand(ActKind.ASSIGN, owner="a@b.example", instead_of=""), None),
    ],
)
def test_an_act_that_does_not_fit_is_refused(
    command: ActCommand, refusal: type[object] | None
) -> None:
    found = refusal_of(Case().stored, command, 0)

    assert found is None if refusal is None else isinstance(found, refusal)


def test_an_incident_has_so_many_acts_and_no_more() -> None:
    comment = ActCommand(ActKind.COMMENT, "again")

    assert refusal_of(Case().stored, comment, MAX_ACTS - 1) is None
    assert isinstance(refusal_of(Case().stored, comment, MAX_ACTS), ValueRefused)


@pytest.mark.parametrize("ending", [Ending.MERGED, Ending.WITHDRAWN])
def test_what_is_no_incident_of_its_own_is_neither_closed_nor_reopened(ending: Ending) -> None:
    case = Case()
    case.by_evidence(ended=LATER, ending=ending)

    assert refusal_of(case.stored, ActCommand(ActKind.CLOSE, "why"), 0) == INCIDENT_NOT_OPEN
    assert refusal_of(case.stored, ActCommand(ActKind.REOPEN, "why"), 0) == INCIDENT_NOT_OVER


def test_the_story_is_in_the_order_of_time_and_names_who_did_what() -> None:
    acts = [
        Act(LATER, "operator:a@n.example", ActKind.ASSIGN, "", "operator:a@n.example"),
        Act(LATER + WINDOW, "operator:a@n.example", ActKind.POST_MORTEM, "first"),
        Act(LATER + 2 * WINDOW, "operator:b@n.example", ActKind.POST_MORTEM, "second"),
    ]
    about = Silence("s", "F", "", BEGAN + WINDOW, LATER - WINDOW, "works", "operator:b@n.example")
    other = replace(about, entity_id="G")
    withdrawn = replace(about, ends=about.begins)
    silences = [about, other, withdrawn]

    story = story_of(Case().stored, [(BEGAN + WINDOW, "opened")], acts, silences, LATER)

    assert [one.at for one in story] == sorted(one.at for one in story)
    assert [(one.by, one.text) for one in story if one.by][:2] == [
        ("b@n.example", "alerts silenced"),
        ("a@n.example", "took it"),
    ]
    assert [one.until for one in story if one.text == "alerts silenced"] == [LATER - WINDOW]
    found = post_mortem_of(acts)
    assert found is not None
    assert found.text == "second"


def test_a_story_is_in_the_order_of_time() -> None:
    """A gap of two windows ends before the deadline at which it is opened."""
    opened = BEGAN + 2 * WINDOW + timedelta(minutes=1)
    case = Case()
    case.by_evidence(
        detected=opened,
        last_bad=BEGAN + WINDOW,
        ended=BEGAN + 2 * WINDOW,
        ending=Ending.RECOVERED,
    )

    story = story_of(case.stored, [(opened, "opened"), (LATER, "recovered")], [], [], LATER)

    assert [one.text for one in story] == [
        *("first bad window", "good again"),
        *("opened", "recovered"),
    ]
    assert [one.at for one in story] == sorted(one.at for one in story)


def incident_of(subject: Fip | AaCalls | Path, aas: tuple[str, ...] = ()) -> Incident:
    return an_incident(subject, BEGAN, affected_aas=aas)


def test_the_calls_of_a_cause_stand_next_to_like_calls_that_work() -> None:
    calls = {
        Pair("A", "F"): (40, 100), Pair("B", "F"): (99, 100),
        Pair("A", "G"): (98, 100), Pair("B", "G"): (97, 100),
    }  # fmt: skip

    at_fip = contrasts(incident_of(Fip("F"), ("A",)), calls)
    between = contrasts(incident_of(Path("A", "F")), calls)

    assert [(one.text, one.share, one.affected) for one in at_fip] == [
        ("A", 0.4, True),
        ("B", 0.99, False),
        ("The same AAs to other FIPs", 0.98, None),
    ]
    assert [(one.text, one.share) for one in between] == [
        ("A to F", 0.4),
        ("A to other FIPs", 0.98),
        ("Other AAs to F", 0.99),
    ]


def test_many_counterparts_are_a_few_rows_and_their_rest() -> None:
    calls = {Pair("A", f"F{number:03}"): (number, 300) for number in range(300)}

    rows = contrasts(incident_of(AaCalls("A")), calls)

    assert len(rows) == MAX_ROWS + 2
    assert (rows[-2].text, rows[-2].affected) == (f"{300 - MAX_ROWS} more", False)
    assert sum(one.eligible for one in rows[:-1]) == 300 * 300


def test_the_rest_of_the_affected_is_affected_too() -> None:
    aas = tuple(f"A{number:02}" for number in range(MAX_ROWS + 3))
    calls = {Pair(aa, "F"): (40, 100) for aa in aas} | {Pair("WELL", "F"): (99, 100)}

    rows = contrasts(incident_of(Fip("F"), aas), calls)

    assert [(one.text, one.eligible, one.affected) for one in rows[MAX_ROWS:]] == [
        ("3 more", 300, True),
        ("1 more", 100, False),
        ("The same AAs to other FIPs", 0, None),
    ]
