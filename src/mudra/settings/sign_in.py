"""Settings of signing in: second factors, step-up, and single sign-on of operators."""

from dataclasses import dataclass
from datetime import timedelta

from mudra.identity.operators.operator import Scope
from mudra.identity.second_factor.policy import FactorRoles, TokenFactor
from mudra.identity.single_sign_on.terms import SignOnTerms
from mudra.settings import parse
from mudra.settings.setting import setting
from mudra.shared.secret_text import SecretText


@dataclass(frozen=True, kw_only=True)
class SignInSettings:
    """Sign-in to the console."""

    # fmt: off
    sign_in_hourly: int = setting("SIGN_IN_HOURLY", 60, parse.whole(1, 100000), "1 to 100000",
        "sign-ins of one account in an hour")
    second_factor: str | None = setting("SECOND_FACTOR", None, parse.choice(*FactorRoles),
        "none, operators, members or everyone",
        "who must sign in to the console with a second factor; operators when not set, none in "
        "the sandbox")
    second_factor_tokens: str = setting(
        "SECOND_FACTOR_TOKENS", "password", parse.choice(*TokenFactor), "password, otp or off",
        "what /user/token/generate asks of people with a second factor: the password alone, as "
        "specified; otp as well; or off: they get no token by password")
    step_up_minutes: int = setting("STEP_UP_MINUTES", 5, parse.whole(1, 60), "1 to 60",
        "for how long a typed password or code, or a passkey, is proof enough for serious acts in "
        "the console")
    sso_issuer: str = setting("SSO_ISSUER", "", parse.url,
        "an absolute http or https URL without query",
        "OpenID Connect provider by which operators sign in to the console; none when not set")
    sso_client_id: str = setting("SSO_CLIENT_ID", "", parse.text, "a text",
        "what the provider calls this service")
    sso_client_secret: SecretText | None = setting("SSO_CLIENT_SECRET", None, SecretText, "a text",
        "the secret of that client", secret=True)
    sso_label: str = setting("SSO_LABEL", "single sign-on", parse.text, "a text",
        "what the sign-in page calls the provider")
    sso_request_scopes: str = setting("SSO_REQUEST_SCOPES", "openid email profile", parse.text,
        "words with openid and email",
        "scopes of OpenID Connect that are requested, such as groups for the claim of that name")
    sso_scope_claim: str = setting("SSO_SCOPE_CLAIM", "", parse.text,
        "a name, with dots for a nested one",
        "claim of the ID token with groups or roles, such as realm_access.roles")
    sso_scope_map: tuple[tuple[str, frozenset[Scope]], ...] = setting(
        "SSO_SCOPE_MAP", (), parse.scope_map, "VALUE=SCOPE+SCOPE, separated by commas",
        "which scopes an operator has by each value of that claim, such as noc=health+audit")
    sso_scopes: str = setting("SSO_SCOPES", "narrow", parse.choice("narrow", "set"),
        "narrow or set",
        "whether that claim narrows the scopes that an operator holds here, or sets them")
    sso_create: bool = setting("SSO_CREATE", False, parse.flag, "true or false",
        "make an operator at the first sign-in, with the scopes of the claim; needs "
        "MUDRA_SSO_SCOPES=set")
    sso_second_factor: tuple[tuple[str, str], ...] = setting(
        "SSO_SECOND_FACTOR", (), parse.factor_claims, "amr=VALUE or acr=VALUE, separated by commas",
        "answers of the provider that count as a second factor, such as amr=mfa; by default none "
        "does, and the console asks for its own")
    operator_local_sign_in: bool = setting("OPERATOR_LOCAL_SIGN_IN", True, parse.flag,
        "true or false",
        "whether operators may sign in with password or passkey too; mudra operator "
        "allow-password lets one in while the provider is out of reach")
    # fmt: on

    @property
    def factor_for_tokens(self) -> TokenFactor:
        """Return what a token by password asks of people with a second factor."""
        return TokenFactor(self.second_factor_tokens)

    @property
    def step_up(self) -> timedelta:
        """Return for how long a typed password or code is proof enough."""
        return timedelta(minutes=self.step_up_minutes)

    @property
    def sign_on_terms(self) -> SignOnTerms | None:
        """Return the terms of single sign-on; None where there is none."""
        if not self.sso_issuer:
            return None
        return SignOnTerms(
            issuer=self.sso_issuer,
            client_id=self.sso_client_id,
            label=self.sso_label,
            scope_claim=self.sso_scope_claim,
            scope_map=self.sso_scope_map,
            sets_scopes=self.sso_scopes == "set",
            creates=self.sso_create,
            factor_claims=self.sso_second_factor,
        )


def sign_in_fault(settings: SignInSettings) -> str:
    """Return what is wrong with these settings together, empty for nothing."""
    if not settings.sso_issuer:
        return (
            ""
            if settings.operator_local_sign_in
            else ("MUDRA_OPERATOR_LOCAL_SIGN_IN=false needs MUDRA_SSO_ISSUER")
        )
    if not settings.sso_client_id or settings.sso_client_secret is None:
        return "MUDRA_SSO_ISSUER needs MUDRA_SSO_CLIENT_ID and MUDRA_SSO_CLIENT_SECRET"
    if settings.sso_create and (settings.sso_scopes != "set" or not settings.sso_scope_claim):
        return "MUDRA_SSO_CREATE needs MUDRA_SSO_SCOPES=set and MUDRA_SSO_SCOPE_CLAIM"
    if not {"openid", "email"} <= set(settings.sso_request_scopes.split()):
        return "MUDRA_SSO_REQUEST_SCOPES must name openid and email"
    return ""
