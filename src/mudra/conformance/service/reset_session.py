"""The resets of one run: what several checks learn from each, so that few are made."""

from collections.abc import Callable
from typing import Final, Protocol

import httpx2

from mudra.conformance.answer import Answer
from mudra.conformance.expectation import TOO_MANY
from mudra.conformance.service.target import EntityCredentials
from mudra.shared.secret_text import SecretText

WAIT_S: Final = 300
"""The waiting period after each reset (specification 8)."""
_MARGIN_S: Final = 1
_DAY_S: Final = 86_400


class Resettable(Protocol):
    """An implementation, as far as a reset needs it."""

    @property
    def entity(self) -> EntityCredentials:
        """The entity with the secret that counts now."""
        ...

    @property
    def entity_answer(self) -> Answer:
        """The answer with the entity's token, asked for once."""
        ...

    @property
    def resets(self) -> int:
        """Counts the resets that succeeded in this run."""
        ...

    @property
    def pause(self) -> Callable[[float], None]:
        """Waits for so many seconds."""
        ...

    def use_secret(self, secret: SecretText) -> None:
        """Go on with a new secret."""
        ...

    def reset_secret(self, **fields: object) -> Answer:
        """Reset the secret."""
        ...


class ResetMade:
    """A reset that was asked for: its answer, and the secrets before and after."""

    def __init__(self, answer: Answer, old: EntityCredentials, new: EntityCredentials) -> None:
        self.answer = answer
        self.old = old
        self.new = new


class ResetSession:
    """Makes each reset once; the first check that needs it waits for its time."""

    def __init__(self, one: Resettable) -> None:
        self._one = one
        self._made: dict[str, ResetMade] = {}
        self._days = 0
        """Days that have passed since the short-lived secret was made."""

    def without_grace(self) -> ResetMade:
        """The first reset, without `oldSecretValidity` and `secretExpiryDays`."""
        return self._once("without grace", self._reset)

    def too_soon(self) -> ResetMade:
        """A second one at once, within the waiting period of the first."""
        self.without_grace()
        return self._once("too soon", self._one.reset_secret)

    def with_grace(self) -> ResetMade:
        """One after the waiting period, with a grace of one day and a life of ten."""
        self.too_soon()
        fields = {"oldSecretValidity": 1, "secretExpiryDays": 10}
        return self._once("with grace", lambda: self._reset(**fields))

    def without_grace_again(self) -> ResetMade:
        """One that ends the grace of the one before."""
        self.with_grace()
        return self._once("again", lambda: self._reset(oldSecretValidity=0))

    def beyond_the_limit(self) -> ResetMade:
        """The first that follows five, waiting period over."""
        self.without_grace_again()

        def until_refused() -> Answer:
            answer = self._reset()
            while answer.status == httpx2.codes.OK and self._one.resets <= 5:  # noqa: PLR2004  # an HTTP status
                self._keep(answer)
                answer = self._reset()
            return answer

        return self._once("beyond", until_refused)

    def short_lived(self) -> ResetMade:
        """One after a day, with a grace of one day and a life of two."""

        def after_a_day() -> Answer:
            _ = self._one.entity_answer  # the token that is to end
            self._one.pause(_DAY_S + _MARGIN_S)
            return self._one.reset_secret(oldSecretValidity=1, secretExpiryDays=2)

        return self._once("short-lived", after_a_day)

    def grace_over(self) -> ResetMade:
        """The same reset, when its grace has ended and the new secret still lives."""
        made = self.short_lived()
        self._wait_until_day(1)
        return made

    def expired(self) -> ResetMade:
        """The same reset, when its new secret has expired too."""
        made = self.short_lived()
        self._wait_until_day(2)
        return made

    def renewed(self) -> ResetMade:
        """Returns a certificate of the secret that has expired."""
        self.expired()
        return self._once("renewed", self._one.reset_secret)

    def _wait_until_day(self, day: int) -> None:
        while self._days < day:
            self._days += 1
            self._one.pause(_DAY_S + _MARGIN_S)

    def _once(self, name: str, ask: Callable[[], Answer]) -> ResetMade:
        if name not in self._made:
            old = self._one.entity
            answer = ask()
            self._keep(answer)
            self._made[name] = ResetMade(answer, old, self._one.entity)
        return self._made[name]

    def _keep(self, answer: Answer) -> None:
        if answer.status == httpx2.codes.OK and answer.text("secret"):
            self._one.use_secret(SecretText(answer.text("secret")))

    def _reset(self, **fields: object) -> Answer:
        if self._one.resets:
            self._one.pause(WAIT_S + _MARGIN_S)
        answer = self._one.reset_secret(**fields)
        wait = answer.headers.get("Retry-After", "")
        if answer.status == TOO_MANY and wait.isascii() and wait.isdigit() and int(wait) <= WAIT_S:
            self._one.pause(int(wait) + _MARGIN_S)
            return self._one.reset_secret(**fields)
        return answer
