"""Who may change the scopes of an operator."""

import pytest

from mudra.identity.operators.operator import OwnScopes, Scope, ScopeNotHeld, may_change_scopes

MEMBERS, KEYS = frozenset({Scope.MEMBERS}), frozenset({Scope.KEYS})


@pytest.mark.parametrize(("before", "after"), [(frozenset(), KEYS), (KEYS, frozenset())])
def test_a_scope_that_is_not_held_can_be_neither_granted_nor_removed(before, after):
    assert may_change_scopes(MEMBERS, before, after, own=False) == ScopeNotHeld(Scope.KEYS)


def test_a_scope_that_stays_as_it_is_need_not_be_held():
    assert may_change_scopes(MEMBERS, KEYS, KEYS | MEMBERS, own=False) is None


def test_operators_cannot_change_their_own_scopes():
    assert may_change_scopes(MEMBERS | KEYS, KEYS, MEMBERS, own=True) == OwnScopes()
