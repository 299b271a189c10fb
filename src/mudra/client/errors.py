"""What can go wrong, each with its diagnosis and the way out.

    MudraClientError
      TokenRefused        the token that was parsed: answer 401 to its bearer
        TokenMalformed  BadSignature  UnknownKey  TokenExpired  TokenNotYetValid
        WrongIssuer  WrongAudience  NotAnEntityToken
      KeysUnavailable     the issuer's keys could not be had: answer 503
      SecretRefused  SecretUnreadable     our own credentials
      RetryableError      TooManyRequests  ServiceUnavailable
      UnexpectedResponse  the answer is not the token service's

None of them ever holds a token, a secret or a claim that the bearer chose freely.
"""

from typing import Self


class MudraClientError(Exception):
    """`diagnosis` says what is wrong, `way_out` what to do about it."""

    def __init__(self, diagnosis: str, way_out: str) -> None:
        super().__init__(f"{diagnosis}; {way_out}")
        self.diagnosis = diagnosis
        self.way_out = way_out


class RetryableError(MudraClientError):
    """Another try after `retry_after` seconds may succeed."""

    def __init__(self, diagnosis: str, way_out: str, retry_after: float) -> None:
        super().__init__(diagnosis, way_out)
        self.retry_after = retry_after


class TokenRefused(MudraClientError):
    """The parsed token must not be trusted."""


class TokenMalformed(TokenRefused):
    """It is not the kind of token that the issuer writes."""


class BadSignature(TokenRefused):
    """It was not signed by the key it names."""


class UnknownKey(TokenRefused):
    """It names a key that the issuer does not publish."""


class TokenExpired(TokenRefused):
    """Its time is over."""


class TokenNotYetValid(TokenRefused):
    """Its time has not come, or it claims to be issued in the future."""


class WrongIssuer(TokenRefused):
    """Another service issued it."""


class WrongAudience(TokenRefused):
    """It was issued for somebody else."""


class NotAnEntityToken(TokenRefused):
    """It is genuine, but speaks for a person or for no known role."""


class KeysUnavailable(MudraClientError):
    """The issuer's keys could not be fetched and none held is young enough."""


class SecretRefused(MudraClientError):
    """The service does not accept this entity and secret (401)."""


class SecretUnreadable(MudraClientError):
    """The program's own secret provider failed."""

    @classmethod
    def by(cls, error: Exception) -> Self:
        """Only the kind of fault is told: its text may hold what was read."""
        return cls(
            f"the secret could not be read ({type(error).__name__})",
            "look at the cause of this error, and at where secret_provider reads",
        )


class TooManyRequests(RetryableError):
    """The service asks to wait (429)."""


class ServiceUnavailable(RetryableError):
    """No response, or a 5xx; trying again later may help."""

    @classmethod
    def by(cls, error: Exception, retry_after: float) -> Self:
        """The service could not be reached; only the kind of fault is told."""
        return cls(
            f"the token service could not be reached ({type(error).__name__})",
            "check base_url, the network and the service's health",
            retry_after,
        )


class UnexpectedResponse(MudraClientError):
    """Something answered that is not the token service."""
