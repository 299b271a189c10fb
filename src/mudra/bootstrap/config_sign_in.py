"""Settings of signing in: second factors, step-up, and single sign-on of operators."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from mudra.bootstrap.config_storage import StorageSettings
from mudra.bootstrap.setting import setting as _setting
from mudra.bootstrap.setting_parsers import choice as _choice
from mudra.bootstrap.setting_parsers import factor_claims as _factor_claims
from mudra.bootstrap.setting_parsers import flag as _flag
from mudra.bootstrap.setting_parsers import scope_map as _scope_map
from mudra.bootstrap.setting_parsers import text as _text
from mudra.bootstrap.setting_parsers import url as _url
from mudra.bootstrap.setting_parsers import whole as _whole
from mudra.identity.operators.operator import Scope
from mudra.identity.second_factor.policy import FactorRoles, TokenFactor
from mudra.identity.single_sign_on.terms import SignOnTerms
from mudra.shared.secret_text import SecretText


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInSettings(StorageSettings):
    """How people sign in to the console. Slots allow one parent."""

    sign_in_hourly: int = _setting(
        "SIGN_IN_HOURLY", 20, _whole(1, 100000), "1 to 100000", "sign-ins of one account in an hour"
    )
    second_factor: str | None = _setting(
        "SECOND_FACTOR", None, _choice(*FactorRoles), "none, operators, members or everyone",
        "who must sign in to the console with a second factor; operators when not set, "
        "none in the sandbox",
    )  # fmt: skip
    second_factor_tokens: str = _setting(
        "SECOND_FACTOR_TOKENS", "password", _choice(*TokenFactor), "password, otp or off",
        "what /user/token/generate asks of people with a second factor: the password alone, as "
        "specified; otp as well; or off: they get no token by password",
    )  # fmt: skip
    step_up_minutes: int = _setting(
        "STEP_UP_MINUTES", 5, _whole(1, 60), "1 to 60",
        "for how long a typed password or code, or a passkey, is proof enough for serious acts in "
        "the console",
    )  # fmt: skip
    sso_issuer: str = _setting(
        "SSO_ISSUER", "", _url, "an absolute http or https URL without query",
        "OpenID Connect provider by which operators sign in to the console; none when not set",
    )  # fmt: skip
    sso_client_id: str = _setting(
        "SSO_CLIENT_ID", "", _text, "a text", "what the provider calls this service"
    )
    sso_client_secret: SecretText | None = _setting(
        "SSO_CLIENT_SECRET", None, SecretText, "a text",
        "the secret of that client; or name a file with it in MUDRA_SSO_CLIENT_SECRET_FILE",
        secret=True,
    )  # fmt: skip
    sso_client_secret_file: Path | None = _setting(
        "SSO_CLIENT_SECRET_FILE", None, Path, "a file", "file that holds the secret of the client"
    )
    sso_label: str = _setting(
        "SSO_LABEL", "single sign-on", _text, "a text", "what the sign-in page calls the provider"
    )
    sso_request_scopes: str = _setting(
        "SSO_REQUEST_SCOPES", "openid email profile", _text, "words with openid and email",
        "scopes of OpenID Connect that are requested, such as groups for the claim of that name",
    )  # fmt: skip
    sso_scope_claim: str = _setting(
        "SSO_SCOPE_CLAIM", "", _text, "a name, with dots for a nested one",
        "claim of the ID token with groups or roles, such as realm_access.roles",
    )  # fmt: skip
    sso_scope_map: tuple[tuple[str, frozenset[Scope]], ...] = _setting(
        "SSO_SCOPE_MAP", (), _scope_map, "VALUE=SCOPE+SCOPE, separated by commas",
        "which scopes an operator has by each value of that claim, such as noc=health+audit",
    )  # fmt: skip
    sso_scopes: str = _setting(
        "SSO_SCOPES", "narrow", _choice("narrow", "set"), "narrow or set",
        "whether that claim narrows the scopes that an operator holds here, or sets them",
    )  # fmt: skip
    sso_create: bool = _setting(
        "SSO_CREATE", False, _flag, "true or false",
        "make an operator at the first sign-in, with the scopes of the claim; needs "
        "MUDRA_SSO_SCOPES=set",
    )  # fmt: skip
    sso_second_factor: tuple[tuple[str, str], ...] = _setting(
        "SSO_SECOND_FACTOR", (), _factor_claims, "amr=VALUE or acr=VALUE, separated by commas",
        "answers of the provider that count as a second factor, such as amr=mfa; by default none "
        "does, and the console asks for its own",
    )  # fmt: skip
    operator_local_sign_in: bool = _setting(
        "OPERATOR_LOCAL_SIGN_IN", True, _flag, "true or false",
        "whether operators may sign in with password or passkey too; mudra operator "
        "allow-password lets one in while the provider is out of reach",
    )  # fmt: skip

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
    secrets = (settings.sso_client_secret, settings.sso_client_secret_file)
    if not settings.sso_client_id or secrets.count(None) != 1:
        return (
            "MUDRA_SSO_ISSUER needs MUDRA_SSO_CLIENT_ID and one of MUDRA_SSO_CLIENT_SECRET and "
            "MUDRA_SSO_CLIENT_SECRET_FILE"
        )
    if settings.sso_create and (settings.sso_scopes != "set" or not settings.sso_scope_claim):
        return "MUDRA_SSO_CREATE needs MUDRA_SSO_SCOPES=set and MUDRA_SSO_SCOPE_CLAIM"
    if not {"openid", "email"} <= set(settings.sso_request_scopes.split()):
        return "MUDRA_SSO_REQUEST_SCOPES must name openid and email"
    return ""


def client_secret(settings: SignInSettings) -> SecretText:
    """Return the secret of the client, read from its file where one is named; raises OSError."""
    if settings.sso_client_secret is not None:
        return settings.sso_client_secret
    assert settings.sso_client_secret_file is not None
    return SecretText(settings.sso_client_secret_file.read_text().strip())
