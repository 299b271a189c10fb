"""The errors of the library, each with its diagnosis and the way out.

    MudraClientError
      TokenRefused        the token that was presented: answer 401 to its bearer
        TokenMalformed  TokenMissing  BadSignature  UnknownKey  TokenExpired  TokenNotYetValid
        WrongIssuer  WrongAudience  NotAnEntityToken  TokenRevoked
        ProofRefused    TooManyProofs: answer 429
      SignatureRefused    a body that its sender did not sign as registered
      SecretRefused  SecretUnreadable     our own credentials
      RetryableError      another try may succeed: answer 503 to those who wait for it
        TooManyRequests  ServiceUnavailable        our own token
        KeysUnavailable  RevocationsUnavailable    the issuer could not be asked
        DirectoryUnavailable                       no proven copy of the registry yet
      UnexpectedResponse  another server answered

None of them ever contains a token, a secret or a claim that the bearer chose freely.
"""

import re
from typing import Final, Self

PAUSE_SECONDS: Final = 5.0
"""Between two attempts where the other side does not say how long to wait."""

_UNTRUSTED: Final = re.compile(r"CERTIFICATE_VERIFY_FAILED\] certificate verify failed: ([^(]+)")
"""OpenSSL's words in the text of a failed handshake."""


def kind_of_failure(error: Exception) -> str:
    """Return the type of the error; of a certificate that is not trusted also why it is not."""
    if found := _UNTRUSTED.search(str(error)):
        why = found[1].rstrip(" .")
        return f"its certificate is not trusted: {why}"
    return type(error).__name__


def is_untrusted(error: Exception) -> bool:
    """Return whether the other side's certificate was refused."""
    return _UNTRUSTED.search(str(error)) is not None


class MudraClientError(Exception):
    """Base class of the library's errors: `diagnosis` says what is wrong, `way_out` what to do."""

    def __init__(self, diagnosis: str, way_out: str) -> None:
        super().__init__(f"{diagnosis}; {way_out}")
        self.diagnosis = diagnosis
        self.way_out = way_out


class RetryableError(MudraClientError):
    """Another try after `retry_after` seconds may succeed."""

    def __init__(self, diagnosis: str, way_out: str, retry_after: float = PAUSE_SECONDS) -> None:
        super().__init__(diagnosis, way_out)
        self.retry_after = retry_after


def pause_after(error: Exception) -> float:
    """Return the seconds to wait before another try: what was asked for, else PAUSE_SECONDS."""
    return error.retry_after if isinstance(error, RetryableError) else PAUSE_SECONDS


class TokenRefused(MudraClientError):
    """The presented token must not be trusted."""


class TokenMalformed(TokenRefused):
    """It does not have the form of the issuer's tokens."""


class TokenMissing(TokenMalformed):
    """The middleware found none; `verify("")` raises `TokenMalformed`.

    The 401 has `WWW-Authenticate: Bearer` and no `error` (RFC 6750 3.1). Most often a proxy on the
    way dropped the header, such as one with an underscore in its name.
    """


class BadSignature(TokenRefused):
    """It was not signed by the key it names."""


class UnknownKey(TokenRefused):
    """It names a key that the issuer does not publish."""


class TokenExpired(TokenRefused):
    """It has expired."""


class TokenNotYetValid(TokenRefused):
    """It is not valid yet, or claims to be issued in the future."""


class WrongIssuer(TokenRefused):
    """Another service issued it."""


class WrongAudience(TokenRefused):
    """It was issued for another audience."""


class NotAnEntityToken(TokenRefused):
    """It is genuine, but belongs to a person or has no known role."""


class TokenRevoked(TokenRefused):
    """It was revoked, or its entity was suspended after it was issued."""


class ProofRefused(TokenRefused):
    """It is bound to a key, and came without a valid, new proof of it (DPoP)."""


class TooManyProofs(ProofRefused):
    """Its entity has more valid proofs than are remembered for one: this one may be a used one."""


class SignatureRefused(MudraClientError):
    """A body whose signature is missing, of another form, or by another key."""


class DirectoryUnavailable(RetryableError):
    """The registry could not be read, and there is no copy that was proven complete."""


class RevocationsUnavailable(RetryableError):
    """The issuer's list of revoked tokens is older than `max_revocation_age` permits."""


class KeysUnavailable(RetryableError):
    """The issuer's keys could not be fetched, and none in the cache is recent enough."""


class SecretRefused(MudraClientError):
    """The service does not accept this entity and secret (401)."""


class SecretUnreadable(MudraClientError):
    """The program's own secret provider failed, or gave no text that is sent: None, bytes, `""`."""

    @classmethod
    def by(cls, error: Exception) -> Self:
        """Report only the type of the error: its text may contain what was read."""
        return cls(
            f"the secret could not be read ({type(error).__name__})",
            "see the cause of this error, and check where secret_provider reads",
        )

    @classmethod
    def of(cls, given: object) -> Self:
        """Report the type of what is no secret, never what it is."""
        if given == "":
            return cls(
                "secret_provider returned an empty text", "check that what it reads from is there"
            )
        if isinstance(given, str):
            return cls(
                "secret_provider returned a text with NUL or half of a character",
                "have it read the secret as UTF-8",
            )
        return cls(
            f"secret_provider returned {type(given).__name__}, not the secret as a text",
            "have it return str: decode bytes, and check that what it reads from is there",
        )


class TooManyRequests(RetryableError):
    """The service asks to wait (429)."""


class ServiceUnavailable(RetryableError):
    """No response, or a 5xx; trying again later may help."""

    @classmethod
    def by(cls, error: Exception, retry_after: float) -> Self:
        """Report a service that could not be reached, by the kind of the failure alone."""
        return cls(
            f"the token service could not be reached ({kind_of_failure(error)})",
            "check base_url, the network and the service's health",
            retry_after,
        )


class UnexpectedResponse(MudraClientError):
    """The response is not one of the token service."""
