"""The ports of single sign-on to storage and to the provider."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.identity.single_sign_on.terms import SignOnTerms
from mudra.localization.language import translatable
from mudra.shared.refusal import Refusal, RefusalKind
from mudra.shared.secret_text import SecretText


class ProviderFailed(Refusal, frozen=True):
    """The provider did not answer, or its answer was not accepted; `reason` says why in a word."""

    kind = RefusalKind.BUSY
    sentence = translatable(
        "single sign-on could not be completed: try again, or ask an operator to look at "
        "the service's log"
    )
    retry_after_s = 10
    reason: str


class SignOnAttempt(Struct, frozen=True):
    """A sign-in that went to the provider and has not come back.

    `holder` is the hash of a cookie of the browser, `state` that of what comes back, `path` the
    page to which the person goes then. Nonce and code verifier follow from the cookie and are not
    stored.
    """

    holder: bytes
    state: bytes
    path: str
    address: str
    expires_at: datetime


class SignOnRequest(Struct, frozen=True):
    """The values with which a browser is sent to the provider (RFC 7636, OIDC Core 3.1.2.1)."""

    state: str
    nonce: str
    verifier: SecretText
    redirect_uri: str
    fresh: bool = False
    """The person must show themselves again, whatever session they have at the provider."""


class IdentityProvider(Protocol):
    """One OpenID Connect provider."""

    @property
    def terms(self) -> SignOnTerms:
        """The terms under which it signs operators in."""

    def now(self) -> datetime:
        """Return the machine's time, which the provider shares; no sandbox moves it."""

    async def address(self, request: SignOnRequest) -> str | ProviderFailed:
        """Return where the browser goes."""

    async def redeem(
        self, code: str, request: SignOnRequest
    ) -> Mapping[str, object] | ProviderFailed:
        """Exchange a code for verified claims: issuer, audience, nonce, times and signature."""
