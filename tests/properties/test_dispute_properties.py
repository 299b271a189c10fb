"""Whatever is done in whatever order, a dispute keeps its promises."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.depth import examples

from mudra.disputes.correction import Correction
from mudra.disputes.dispute import About, Act, Dispute, Kind, Side, State
from mudra.disputes.step_rule import StepCommand, after_step, corrections_by
from mudra.shared.refusal import Refusal

START = datetime(2026, 1, 30, 18, 30, tzinfo=UTC)
DAY = timedelta(days=1)
RAISED = START + 3 * DAY
OPEN = {State.RAISED, State.UNDER_REVIEW, State.INFORMATION_WANTED}
DECIDING = {Act.ACCEPT, Act.ACCEPT_PARTLY, Act.REJECT}
OF_MEMBER = {Act.INFORM, Act.ATTACH, Act.WITHDRAW}
STEPS = st.lists(
    st.tuples(
        st.sampled_from([one for one in Act if one not in {Act.RAISE, Act.COMMENT}]),
        st.timedeltas(timedelta(), timedelta(days=40)),
    ),
    max_size=30,
)
WINDOWS = st.integers(-10, 154).map(lambda number: START + number * timedelta(minutes=10))


def a_dispute(*apis: str) -> Dispute:
    return Dispute(
        *("d", "KAVERI-FIP", Kind.DISPUTE, About.DAY, None, apis, START, START + DAY),
        *(State.RAISED, "user:1", RAISED, RAISED, RAISED + timedelta(days=5)),
    )


@settings(max_examples=examples(33), deadline=None)
@given(STEPS)
def test_an_open_dispute_has_a_deadline_and_a_closed_one_changes_only_by_a_reopening(
    steps: list[tuple[Act, timedelta]],
) -> None:
    one, now = a_dispute(), RAISED
    for number, (act, later) in enumerate(steps):
        now += later
        after = after_step(one, StepCommand(act, "A text."), number, now)
        if isinstance(after, Refusal):
            continue
        if one.state not in OPEN and after.state is not one.state:
            assert act is Act.REOPEN
            assert one.state is not State.WITHDRAWN
        if act in DECIDING | OF_MEMBER:
            assert one.state in OPEN
        if act is Act.LAPSE:
            assert one.waits_for is Side.MEMBER
            assert one.due_at is not None
            assert one.due_at <= now
        assert (after.due_at is not None) is (after.state in OPEN)
        assert (after.waits_for is None) is (after.state not in OPEN)
        assert (after.start, after.end, after.apis) == (one.start, one.end, one.apis)
        one = after


@settings(max_examples=examples(33), deadline=None)
@given(WINDOWS, WINDOWS, st.sets(st.sampled_from(["fif", "fireq", "cns"])))
def test_corrections_never_exceed_what_is_contested(
    start: datetime, end: datetime, apis: set[str]
) -> None:
    command = StepCommand(Act.ACCEPT_PARTLY, "A part.", "left_out", start, end, tuple(sorted(apis)))
    made = corrections_by(a_dispute("fif", "fireq"), command, lambda: "c", RAISED)

    is_part = START <= start < end <= START + DAY and apis <= {"fif", "fireq"}
    is_whole = (start, end) == (START, START + DAY) and apis in (set(), {"fif", "fireq"})
    assert isinstance(made, Refusal) is (not is_part or is_whole)
    if not isinstance(made, Refusal):
        assert {one.api for one in made} == (apis or {"fif", "fireq"})
        assert all(isinstance(one, Correction) and START <= one.start < one.end for one in made)
        assert all(one.end <= START + DAY for one in made)
