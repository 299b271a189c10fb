"""Attributes of clients, users and a realm of Keycloak that a move does not carry, by name. Pure.

The owner of a realm may give any attributes, so all are named but those known here:
those that are carried or said in words, and Keycloak's own of sessions and of people's sign-in,
which a program that gets tokens for itself does not have.
"""

from collections.abc import Iterable, Iterator
from typing import Final

MOST: Final = 10
"""Names in one sentence; the number of all follows them."""
LONGEST: Final = 40
_SAID: Final = frozenset(
    {
        *("client.secret.expiration.time", "client.secret.rotated"),
        *("client.secret.rotated.expiration.time", "client.secret.creation.time"),
        *("client.secret.rotated.creation.time", "access.token.lifespan"),
        *("dpop.bound.access.tokens", "tls.client.certificate.bound.access.tokens"),
    }
)
_OF_SIGN_IN: Final = frozenset(
    {
        *("acr.loa.map", "consent.screen.text", "display.on.consent.screen", "login_theme"),
        *("oauth2.device.authorization.grant.enabled", "oidc.ciba.grant.enabled"),
        *("post.logout.redirect.uris", "realm_client", "use.refresh.tokens"),
        *("client_credentials.use_refresh_token", "exclude.session.state.from.auth.response"),
        *("require.pushed.authorization.requests", "id.token.as.detached.signature"),
        *("parRequestUriLifespan", "realmReusableOtpCode", "shortVerificationUri"),
        *("actionTokenGeneratedByAdminLifespan",),
        *("userProfileEnabled", "organizationsEnabled", "firstBrokerLoginFlowId"),
        *("bruteForceProtected", "bruteForceStrategy", "permanentLockout", "failureFactor"),
        *("maxTemporaryLockouts", "maxFailureWaitSeconds", "maxDeltaTimeSeconds"),
        *("minimumQuickLoginWaitSeconds", "waitIncrementSeconds", "quickLoginCheckMilliSeconds"),
    }
)
_GROUPS_OF_SIGN_IN: Final = (
    *("saml.", "saml_", "backchannel.logout.", "frontchannel.logout.", "client.session."),
    *("client.offline.", "clientSession", "clientOfflineSession", "offlineSession", "ciba"),
    *("oauth2Device", "webAuthnPolicy", "_browser_header.", "actionTokenGeneratedByUserLifespan"),
)


def names_of(attributes: object) -> Iterator[str]:
    """Return the names of attributes that have a value; none of what is no object."""
    for name, value in attributes.items() if isinstance(attributes, dict) else ():
        if value is not None and value not in ("", [], {}):
            yield name


def not_carried(names: Iterable[str]) -> str:
    """Return the names of attributes that are not carried and how many; empty for none."""
    unknown = sorted({name for name in names if not _is_known(name)})
    if not unknown:
        return ""
    shown = [name[:LONGEST] for name in unknown[:MOST]]
    more = ", …" if len(unknown) > MOST else ""
    return f"{', '.join(shown)}{more} ({len(unknown)})"


def _is_known(name: str) -> bool:
    return name in _SAID or name in _OF_SIGN_IN or name.startswith(_GROUPS_OF_SIGN_IN)
