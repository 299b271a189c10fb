"""The steps of a dispute: who may take which from which state, the deadlines after it. Pure."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from mudra.disputes.correction import Correction, Effect
from mudra.disputes.dispute import DECIDED, OPEN, Act, Dispute, Side, State
from mudra.metrics.payload.catalogue import TYPE_OF_API, window_start
from mudra.shared.refusal import PlainRefusal, Refusal, RefusalKind, ValueRefused
from mudra.shared.text.visible_text import first_unseen

REVIEW_WITHIN: Final = timedelta(days=5)
"""From raising to review."""
DECIDE_WITHIN: Final = timedelta(days=15)
"""From review, or the member's answer, to the decision."""
ANSWER_WITHIN: Final = timedelta(days=10)
"""From a question to the member's answer; without one the dispute lapses."""
REOPEN_WITHIN: Final = timedelta(days=90)
MAX_TEXT: Final = 4_000
MAX_STEPS: Final = 200
"""Of one dispute: a page shows them all."""
_LAYOUT: Final = "\n\r\t"
_CLOSED: Final = frozenset({*DECIDED, State.LAPSED})


class _Rule(NamedTuple):
    """From which states, to which (None: it stays), and the time that the next side has."""

    by: Side
    states: frozenset[State]
    to: State | None = None
    next_within: timedelta | None = None


_ALL: Final = frozenset(State)
_RULES: Final = {
    Act.INFORM: _Rule(Side.MEMBER, OPEN | {State.NOTED}),
    Act.ATTACH: _Rule(Side.MEMBER, OPEN | {State.NOTED}),
    Act.WITHDRAW: _Rule(Side.MEMBER, OPEN | {State.NOTED}, State.WITHDRAWN),
    Act.REVIEW: _Rule(Side.OPERATOR, frozenset({State.RAISED}), State.UNDER_REVIEW, DECIDE_WITHIN),
    Act.ASK: _Rule(
        Side.OPERATOR,
        frozenset({State.RAISED, State.UNDER_REVIEW}),
        State.INFORMATION_WANTED,
        ANSWER_WITHIN,
    ),
    Act.ANSWER: _Rule(Side.OPERATOR, _ALL),
    Act.ACCEPT: _Rule(Side.OPERATOR, OPEN, State.ACCEPTED),
    Act.ACCEPT_PARTLY: _Rule(Side.OPERATOR, OPEN, State.PARTLY_ACCEPTED),
    Act.REJECT: _Rule(Side.OPERATOR, OPEN, State.REJECTED),
    Act.REOPEN: _Rule(Side.OPERATOR, _CLOSED, State.UNDER_REVIEW, DECIDE_WITHIN),
    Act.LAPSE: _Rule(Side.SERVICE, frozenset({State.INFORMATION_WANTED}), State.LAPSED),
    Act.OVERDUE: _Rule(Side.SERVICE, frozenset({State.RAISED, State.UNDER_REVIEW})),
}
_NEEDS_NO_TEXT: Final = frozenset({Act.WITHDRAW, Act.REVIEW, Act.LAPSE, Act.OVERDUE, Act.ATTACH})
ACCEPTING: Final = frozenset({Act.ACCEPT, Act.ACCEPT_PARTLY})


class StepCommand(Struct, frozen=True):
    """A step to take. `effect`, and of a partial acceptance the windows, are of its correction.

    What a partial acceptance leaves out is that of the dispute.
    """

    act: Act
    text: str = ""
    effect: Effect = "left_out"
    start: datetime | None = None
    end: datetime | None = None
    apis: tuple[str, ...] = ()


TOO_MANY_STEPS: Final = PlainRefusal(
    RefusalKind.CONFLICT, f"a dispute has at most {MAX_STEPS} steps: raise another one"
)
TOO_LATE_TO_REOPEN: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    f"it was closed more than {REOPEN_WITHIN.days} days ago and can no longer be reopened",
)


class NotInThisState(Refusal, frozen=True):
    """The state of a dispute does not permit the step."""

    kind = RefusalKind.CONFLICT
    act: Act
    state: State

    @property
    def sentence(self) -> str:
        """Return the text for the caller: the state, and what it permits."""
        able = [act.value for act, rule in _RULES.items() if self._permits(act, rule)]
        state = self.state.value.replace("_", " ")
        possible = f"possible: {', '.join(able)}" if able else "no other act is possible either"
        return f"act {self.act.value} is not possible: it is {state}; {possible}"

    def _permits(self, act: Act, rule: _Rule) -> bool:
        same_side = rule.by is _RULES[self.act].by
        return same_side and self.state in rule.states and act is not Act.ATTACH


def text_refused(text: str) -> ValueRefused | None:
    """Return why a statement is not accepted."""
    if not 0 < len(text.strip()) <= MAX_TEXT or first_unseen(text, _LAYOUT):
        return ValueRefused(
            "text", f"must be 1 to {MAX_TEXT} characters, without control ones but line ends"
        )
    return None


def possible(dispute: Dispute, by: Side, now: datetime) -> frozenset[Act]:
    """Return the steps that a side may take now."""
    return frozenset(
        act
        for act, rule in _RULES.items()
        if rule.by is by and _state_refused(dispute, act, now) is None
    )


def _state_refused(dispute: Dispute, act: Act, now: datetime) -> Refusal | None:
    if dispute.state not in _RULES[act].states:
        return NotInThisState(act, dispute.state)
    if act is Act.REOPEN and dispute.changed_at < now - REOPEN_WITHIN:
        return TOO_LATE_TO_REOPEN
    if act is Act.LAPSE and not dispute.is_overdue(now):
        return NotInThisState(act, dispute.state)
    return None


def after_step(
    dispute: Dispute, command: StepCommand, steps: int, now: datetime
) -> Dispute | Refusal:
    """Return the dispute after a step; `steps` counts the earlier ones."""
    act, rule = command.act, _RULES[command.act]
    refused = _state_refused(dispute, act, now)
    if refused is not None:
        return refused
    if command.text or act not in _NEEDS_NO_TEXT:
        refused = text_refused(command.text)
    if refused is not None:
        return refused
    if steps >= MAX_STEPS and act not in {Act.WITHDRAW, Act.LAPSE, Act.REJECT, *ACCEPTING}:
        return TOO_MANY_STEPS
    if act is Act.INFORM and dispute.state is State.INFORMATION_WANTED:
        return _at(dispute, State.UNDER_REVIEW, now + DECIDE_WITHIN, now)
    if rule.to is None:
        return dispute
    return _at(dispute, rule.to, now + rule.next_within if rule.next_within else None, now)


def _at(dispute: Dispute, state: State, due_at: datetime | None, now: datetime) -> Dispute:
    return replace(dispute, state=state, due_at=due_at, changed_at=now)


def corrections_by(
    dispute: Dispute, command: StepCommand, new_id: Callable[[], str], now: datetime
) -> Sequence[Correction] | ValueRefused:
    """Return the corrections that an acceptance makes: of all that is contested, or of a part."""
    start, end, apis = dispute.start, dispute.end, dispute.apis
    if command.act is Act.ACCEPT_PARTLY:
        start, end = command.start or start, command.end or end
        apis = command.apis or apis
        refused = _part_refused(dispute, start, end, apis)
        if refused is not None:
            return refused
    reason = " ".join(command.text.split())
    return [
        Correction(new_id(), dispute.entity_id, api, start, end, command.effect, reason, now)
        for api in apis or (None,)
    ]


def _part_refused(
    dispute: Dispute, start: datetime, end: datetime, apis: tuple[str, ...]
) -> ValueRefused | None:
    for name, at in (("start", start), ("end", end)):
        if window_start(at) != at:
            return ValueRefused(name, "must be on the edge of a window of ten minutes")
    if start < dispute.start or end > dispute.end or end <= start:
        times = f"{dispute.start:%Y-%m-%dT%H:%MZ} to {dispute.end:%Y-%m-%dT%H:%MZ}"
        return ValueRefused("start and end", f"must be a part of what is contested: {times}")
    known = set(dispute.apis or TYPE_OF_API)
    if not set(apis) <= known or len(set(apis)) < len(apis):
        return ValueRefused("apis", f"must be some of {', '.join(sorted(known))}, each once")
    if (start, end, set(apis)) == (dispute.start, dispute.end, set(dispute.apis)):
        return ValueRefused("start, end and apis", "name no part: accept it wholly instead")
    return None
