"""The secret's life on two nodes over a real database, against a model.

The model counts whole minutes. Real time only adds to them, less than one
minute in a run, so both agree at every edge.
"""

import itertools
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from tests.support.depth import examples
from tests.support.nodes import Node, Nodes

from mudra.tokens.authentication.secret_check import (
    AuthenticatedEntity,
    SecretExpired,
    SecretGraceEnded,
    SecretUnknown,
)
from mudra.tokens.secrets.reset_rule import ResetLimitReached, ResetTooSoon
from mudra.tokens.secrets.secret import EntitySecret
from mudra.tokens.secrets.secret_service import NOTHING_IN_GRACE, SecretDetails

pytestmark = pytest.mark.deeper

MINUTES_A_DAY = 24 * 60
HALF_A_DAY = 12 * 60
_names = itertools.count(1)


@dataclass
class Kept:
    """One secret as the model knows it; times in minutes."""

    text: str
    expires: int
    grace_until: int | None = None
    is_current: bool = True
    ended: bool = False


@dataclass
class Model:
    """What specification 3 and 8 say, in few lines."""

    now: int = 0
    secrets: list[Kept] = field(default_factory=list)
    resets: list[int] = field(default_factory=list)

    @property
    def current(self) -> Kept:
        return self.secrets[-1]

    def edges(self) -> list[int]:
        """The times ahead at which something ends."""
        ends = [end for k in self.secrets for end in (k.expires, k.grace_until) if end is not None]
        waits = [at + wait for at in self.resets for wait in (5, MINUTES_A_DAY)]
        return sorted(at for at in {*ends, *waits} if at > self.now)

    def grace(self) -> Kept | None:
        for kept in self.secrets[:-1]:
            if not kept.ended and kept.grace_until is not None and self.now < kept.grace_until:
                return kept
        return None

    def refusal(self) -> type | None:
        recent = [at for at in self.resets if at > self.now - MINUTES_A_DAY]
        if len(recent) >= 5:
            return ResetLimitReached
        return ResetTooSoon if recent and self.now - recent[-1] < 5 else None

    def reset(self, text: str, expiry_days: int, keep_days: int) -> None:
        former = self.current
        for kept in self.secrets[:-1]:
            kept.ended = True
        former.is_current = False
        if keep_days and former.expires > self.now:
            former.grace_until = min(self.now + keep_days * MINUTES_A_DAY, former.expires)
        self.secrets.append(Kept(text, self.now + expiry_days * MINUTES_A_DAY))
        self.resets.append(self.now)

    def check(self, text: str) -> type:
        reported = [k for k in self.secrets if k.is_current or k.grace_until is not None][-8:]
        kept = next((k for k in reported if k.text == text), None)
        if kept is None:
            return SecretUnknown
        if kept.is_current:
            return AuthenticatedEntity if self.now < kept.expires else SecretExpired
        return AuthenticatedEntity if kept is self.grace() else SecretGraceEnded


class SecretLife(RuleBasedStateMachine):
    """Members' acts in any order, on either node."""

    nodes: Nodes
    texts = Bundle("texts")
    either = st.sampled_from("ab")

    def _node(self, name: str) -> Node:
        return self.nodes.a if name == "a" else self.nodes.b

    @initialize(target=texts)
    def onboard(self) -> str:
        self.model = Model()
        self.nodes.set_time(timedelta())
        self.entity_id = f"M-{next(_names)}-FIP"
        text = self.nodes.do(self.nodes.a.onboard(self.entity_id))
        self.model.secrets.append(Kept(text, 180 * MINUTES_A_DAY))
        return text

    @rule(
        minutes=st.sampled_from([5, 6, HALF_A_DAY, MINUTES_A_DAY - 1, MINUTES_A_DAY])
        | st.integers(1, 8 * MINUTES_A_DAY)
        | st.just(180 * MINUTES_A_DAY)
    )
    def time_passes(self, minutes: int) -> None:
        self._move(minutes)

    def _move(self, minutes: int) -> None:
        self.model.now += minutes
        self.nodes.set_time(timedelta(minutes=self.model.now))

    @rule(which=st.integers(0, 3), early=st.integers(0, 1))
    def time_comes_to_an_edge(self, which: int, early: int) -> None:
        ahead = self.model.edges()
        if ahead:
            self._move(max(0, ahead[min(which, len(ahead) - 1)] - early - self.model.now))

    @rule(
        target=texts,
        at=either,
        expiry_days=st.sampled_from([1, 1, 2, 5, 180]) | st.integers(1, 180),
        keep_days=st.integers(0, 7),
    )
    def reset(self, at: str, expiry_days: int, keep_days: int) -> object:
        refused = self.model.refusal()
        outcome = self.nodes.do(self._node(at).reset(self.entity_id, expiry_days, keep_days))
        if refused is not None:
            assert type(outcome) is refused
            return multiple()
        assert isinstance(outcome, SecretDetails)
        text = outcome.text.reveal()
        self.model.reset(text, expiry_days, keep_days)
        return text

    @rule(at=either)
    def retire(self, at: str) -> None:
        grace = self.model.grace()
        outcome = self.nodes.do(self._node(at).retire(self.entity_id))
        if grace is None:
            assert outcome == NOTHING_IN_GRACE
        else:
            assert isinstance(outcome, EntitySecret)
            grace.ended = True

    @rule(at=either, text=texts)
    def ask_for_a_token(self, at: str, text: str) -> None:
        verdict = self.nodes.do(self._node(at).check(self.entity_id, text))
        assert type(verdict) is self.model.check(text)
        if isinstance(verdict, AuthenticatedEntity):
            assert (verdict.grace_until is not None) == (text != self.model.current.text)

    @invariant()
    def both_nodes_show_the_current_secret_and_at_most_one_more_gives_tokens(self) -> None:
        for node in (self.nodes.a, self.nodes.b):
            shown = self.nodes.do(node.read(self.entity_id))
            assert shown.text.reveal() == self.model.current.text
            assert (shown.in_grace is not None) == (self.model.grace() is not None)
            verdicts = [
                self.nodes.do(node.check(self.entity_id, kept.text)) for kept in self.model.secrets
            ]
            accepted = [v for v in verdicts if isinstance(v, AuthenticatedEntity)]
            assert len(accepted) <= 2
            assert [type(v) for v in verdicts] == [
                self.model.check(kept.text) for kept in self.model.secrets
            ]


def test_the_secret_s_life_agrees_with_the_model_on_both_nodes(nodes: Nodes) -> None:
    SecretLife.nodes = nodes

    run_state_machine_as_test(
        SecretLife,
        settings=settings(max_examples=examples(10), stateful_step_count=20, deadline=None),
    )
