"""Reads verified claims of a provider (OpenID Connect Core 2 and 5.1). Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.identity.accounts.email_address import normalize_email
from mudra.identity.operators.operator import Scope
from mudra.identity.single_sign_on.terms import SignOnTerms
from mudra.localization.language import translatable
from mudra.shared.refusal import Refusal, RefusalKind

MAX_VALUES: Final = 500
"""Groups of one person that are read; more are refused, not cut."""
_MAX_SUBJECT: Final = 255  # OpenID Connect Core 2

_NOT_SIGNED_IN: Final = translatable("single sign-on did not sign you in: begin again")
_TEXTS: Final[Mapping[str, str]] = {
    "not-an-operator": translatable(
        "no operator here has the email address of your account at the provider"
    ),
    "no-scopes": translatable("your account at the provider has no group that gives rights here"),
    "no-scope-claim": translatable(
        "the provider did not send the groups that give rights here: ask who manages it"
    ),
    "account-disabled": translatable("your account here is disabled"),
    "email-not-verified": translatable("the provider did not verify your email address"),
}


class SignOnRefused(Refusal, frozen=True):
    """The provider's answer signs no one in; `reason` is that of the audit log."""

    kind = RefusalKind.UNAUTHORIZED
    reason: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return _TEXTS.get(self.reason, _NOT_SIGNED_IN)


class ProvidedIdentity(Struct, frozen=True):
    """The person who has signed in at a provider, as it says.

    `scopes` is None where no claim decides on them; with `lacks_scopes` one does, and the answer
    leaves it out. `proven_before` is how long ago the person showed themselves to the provider,
    None when it does not say.
    """

    subject: str
    email: str
    name: str
    scopes: frozenset[Scope] | None
    has_second_factor: bool
    proven_before: timedelta | None
    lacks_scopes: bool = False


def read_identity(
    claims: Mapping[str, object], terms: SignOnTerms, now: datetime
) -> ProvidedIdentity | SignOnRefused:
    """Return who the claims are about; only an address that the provider verified counts."""
    subject, sent, name = claims.get("sub"), claims.get("email"), claims.get("name")
    if not isinstance(subject, str) or not 0 < len(subject) <= _MAX_SUBJECT:
        return SignOnRefused("no-subject")
    if claims.get("email_verified") is not True:
        return SignOnRefused("email-not-verified")
    email = normalize_email(sent) if isinstance(sent, str) else None
    if not isinstance(email, str):
        return SignOnRefused("no-email")
    scopes = _scopes(claims, terms) if terms.scope_claim else None
    if isinstance(scopes, SignOnRefused):
        return scopes
    return ProvidedIdentity(
        subject,
        email,
        name if isinstance(name, str) else "",
        scopes,
        any(value in _texts(claims.get(claim)) for claim, value in terms.factor_claims),
        _proven_before(claims.get("auth_time"), now),
        lacks_scopes=bool(terms.scope_claim) and scopes is None,
    )


def scopes_after(
    held: frozenset[Scope], given: frozenset[Scope] | None, *, sets: bool
) -> frozenset[Scope]:
    """Return an operator's scopes after a sign-in that gave these; None leaves them as they are."""
    if given is None:
        return held
    return given if sets else held & given


def _scopes(
    claims: Mapping[str, object], terms: SignOnTerms
) -> frozenset[Scope] | SignOnRefused | None:
    """Return what the claim gives; None when the answer has none, or leaves it at another place.

    Some providers leave out a claim with many values, or name its place in `_claim_names` (OpenID
    Connect Core 5.6.2): that says nothing about a person's groups.
    """
    first, elsewhere = terms.scope_claim.split(".")[0], claims.get("_claim_names")
    if isinstance(elsewhere, Mapping) and {first, terms.scope_claim} & elsewhere.keys():
        return None
    found: object = claims.get(terms.scope_claim)
    if found is None:
        found = claims
        for part in terms.scope_claim.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    if found is None:
        return None
    values = _texts(found)
    if len(values) > MAX_VALUES:
        return SignOnRefused("too-many-groups")
    given = [scopes for value, scopes in terms.scope_map if value in values]
    return frozenset[Scope]().union(*given)


def _texts(value: object) -> frozenset[str]:
    """Return the texts of a claim that is one text or a list of them."""
    if isinstance(value, str):
        return frozenset({value})
    if not isinstance(value, list):
        return frozenset()
    return frozenset(one for one in value if isinstance(one, str))


def _proven_before(auth_time: object, now: datetime) -> timedelta | None:
    if not isinstance(auth_time, int) or isinstance(auth_time, bool):
        return None
    return max(timedelta(), timedelta(seconds=min(now.timestamp() - auth_time, 10**8)))
