"""The decisions of the service's operator about single sign-on. Pure values."""

from collections.abc import Sequence

from msgspec import Struct

from mudra.identity.operators.operator import Scope


class SignOnTerms(Struct, frozen=True, kw_only=True):
    """The terms under which a provider signs operators in.

    `scope_claim` names the claim with groups or roles (`realm_access.roles` for a nested one),
    empty for none; `scope_map` says which scopes each value gives. With `sets_scopes` they replace
    the scopes that an operator holds, else they narrow them. With `creates` an operator is made at
    the first sign-in. `factor_claims` are pairs of a claim (`amr` or `acr`) and a value; any of
    them counts as a second factor.
    """

    issuer: str
    client_id: str
    label: str
    scope_claim: str = ""
    scope_map: Sequence[tuple[str, frozenset[Scope]]] = ()
    sets_scopes: bool = False
    creates: bool = False
    factor_claims: Sequence[tuple[str, str]] = ()
