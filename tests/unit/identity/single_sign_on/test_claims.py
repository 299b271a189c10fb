"""Whom verified claims name, and which scopes they leave."""

from datetime import UTC, datetime, timedelta

import pytest

from mudra.identity.operators.operator import Scope
from mudra.identity.single_sign_on.claims import (
    ProvidedIdentity,
    SignOnRefused,
    read_identity,
    scopes_after,
)
from mudra.identity.single_sign_on.terms import SignOnTerms

MAX_VALUES = 500

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
MAP = (
    ("noc", frozenset({Scope.HEALTH})),
    ("chiefs", frozenset({Scope.MEMBERS, Scope.KEYS})),
)
TERMS = SignOnTerms(issuer="https://id.example", client_id="mudra", label="ID")
GROUPS = SignOnTerms(
    issuer="https://id.example",
    client_id="mudra",
    label="ID",
    scope_claim="realm_access.roles",
    scope_map=MAP,
    factor_claims=(("amr", "mfa"), ("acr", "strong")),
)
GOOD: dict[str, object] = {"sub": "s", "email": "Chief@Network.example", "email_verified": True}


def identity(terms: SignOnTerms = TERMS, **claims: object) -> ProvidedIdentity:
    found = read_identity({**GOOD, **claims}, terms, NOW)
    assert isinstance(found, ProvidedIdentity), found
    return found


def test_the_verified_address_names_the_person() -> None:
    found = identity(name="Chief")

    assert (found.subject, found.email, found.name) == (
        "s",
        "Chief@network.example".lower(),
        "Chief",
    )
    assert found.scopes is None
    assert not found.lacks_scopes
    assert not found.has_second_factor
    assert identity().name == ""
    assert identity(name=7).name == ""


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"sub": ""}, "no-subject"),
        ({"sub": "s" * 256}, "no-subject"),
        ({"sub": 7}, "no-subject"),
        ({"email_verified": "true"}, "email-not-verified"),
        ({"email_verified": 1}, "email-not-verified"),
        ({"email_verified": False}, "email-not-verified"),
        ({"email": None}, "no-email"),
        ({"email": "no address"}, "no-email"),
    ],
)
def test_claims_without_a_person_are_refused(claims: dict[str, object], reason: str) -> None:
    assert read_identity({**GOOD, **claims}, TERMS, NOW) == SignOnRefused(reason)
    assert identity(sub="s" * 255).subject == "s" * 255


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"realm_access": {"roles": ["noc", "cooks", 7]}}, {Scope.HEALTH}),
        ({"realm_access.roles": ["chiefs"]}, {Scope.MEMBERS, Scope.KEYS}),
        ({"realm_access": {"roles": "noc"}}, {Scope.HEALTH}),
        ({"realm_access": {"roles": ["noc", "chiefs"]}}, {Scope.HEALTH, Scope.MEMBERS, Scope.KEYS}),
        ({"realm_access": {"roles": {"noc": 1}}}, set()),
        ({"realm_access": {"roles": []}}, set()),
        ({"_claim_names": {"address": "src1"}, "realm_access": {"roles": "noc"}}, {Scope.HEALTH}),
    ],
)
def test_groups_give_scopes(claims: dict[str, object], scopes: set[Scope]) -> None:
    found = identity(GROUPS, **claims)

    assert found.scopes == scopes
    assert not found.lacks_scopes


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"realm_access": {}},
        {"realm_access": ["noc"]},
        {"realm_access": {"roles": None}},
        {"_claim_names": {"realm_access": "src1"}, "realm_access": {"roles": ["noc"]}},
        {"_claim_names": {"realm_access.roles": "src1"}, "realm_access.roles": []},
    ],
)
def test_an_answer_that_leaves_the_claim_out_says_nothing_of_scopes(
    claims: dict[str, object],
) -> None:
    found = identity(GROUPS, **claims)

    assert found.scopes is None
    assert found.lacks_scopes


def test_too_many_groups_are_refused_not_cut() -> None:
    most = [str(number) for number in range(MAX_VALUES)]
    claims = {**GOOD, "realm_access": {"roles": [*most, "one more"]}}

    assert read_identity(claims, GROUPS, NOW) == SignOnRefused("too-many-groups")
    assert identity(GROUPS, realm_access={"roles": most}).scopes == set()


@pytest.mark.parametrize(
    ("claims", "counts"),
    [
        ({"amr": ["pwd", "mfa"]}, True),
        ({"acr": "strong"}, True),
        ({"amr": ["pwd"]}, False),
        ({"acr": "mfa"}, False),
        ({"amr": "strong"}, False),
        ({"amr": {"mfa": True}}, False),
    ],
)
def test_a_second_factor_counts_where_the_terms_name_it(
    claims: dict[str, object], counts: bool
) -> None:
    assert identity(GROUPS, **claims).has_second_factor is counts


@pytest.mark.parametrize(
    ("auth_time", "before"),
    [
        (int(NOW.timestamp()) - 90, timedelta(seconds=90)),
        (int(NOW.timestamp()) + 90, timedelta()),
        (0, timedelta(seconds=10**8)),
        (None, None),
        (True, None),
        ("90", None),
    ],
)
def test_when_the_person_was_seen_is_never_in_the_future(
    auth_time: object, before: timedelta | None
) -> None:
    assert identity(auth_time=auth_time).proven_before == before


def test_a_claim_narrows_or_sets_scopes() -> None:
    held, given = frozenset({Scope.HEALTH, Scope.KEYS}), frozenset({Scope.KEYS, Scope.AUDIT})

    assert scopes_after(held, given, sets=False) == {Scope.KEYS}
    assert scopes_after(held, given, sets=True) == given
    assert scopes_after(held, None, sets=True) == held
