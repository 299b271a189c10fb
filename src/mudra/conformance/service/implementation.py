"""An implementation under check: its calls, and the tokens that several checks share."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property

import httpx2
import msgspec
from joserfc.jwk import RSAKey

from mudra.conformance.answer import NO_ANSWER, Answer, Caller
from mudra.conformance.check import NoToken
from mudra.conformance.expectation import moment
from mudra.conformance.jwt_text import Jwt, read_jwt
from mudra.conformance.redaction import Redaction
from mudra.conformance.service.reset_session import ResetSession
from mudra.conformance.service.target import EntityCredentials, Target
from mudra.shared.secret_text import SecretText

_FORM = "application/x-www-form-urlencoded"


class Implementation:
    """Calls the implementation; `pause` waits until so many seconds have passed there."""

    def __init__(
        self,
        target: Target,
        caller: Caller,
        redaction: Redaction,
        pause: Callable[[float], None],
        wall: Callable[[], float],
    ) -> None:
        self.target = target
        self.redaction = redaction
        self.pause = pause
        self.asked = ""
        """Method and address of the last request."""
        self.resets = 0
        """How many resets of the entity's secret this run has made."""
        self._caller = caller
        self._wall = wall
        self._entity: EntityCredentials | None = None
        for secret in (
            *(one.secret for one in (target.entity, target.aa) if one),
            *([target.user.password] if target.user else []),
            *([target.expired] if target.expired else []),
        ):
            redaction.hide(secret)

    # Calls

    def send(
        self,
        method: str,
        url: str,
        *,
        token: SecretText | None = None,
        document: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request, with a JSON document where there is one."""
        given = dict(headers or {})
        if token is not None:
            given["Authorization"] = SecretText("Bearer " + token.reveal()).reveal()
        content = None
        if document is not None:
            content = document if isinstance(document, bytes) else msgspec.json.encode(document)
            given.setdefault("Content-Type", "application/json")
        return self._noted(self._caller.ask(method, url, headers=given, content=content))

    def form(self, path: str, fields: Mapping[str, str] | str, **headers: str) -> Answer:
        """Post a form below the base URL."""
        if isinstance(fields, str):
            given = {"Content-Type": _FORM, **headers}
            url = self.address(path)
            return self._noted(
                self._caller.ask("POST", url, headers=given, content=fields.encode())
            )
        url, own = self.address(path), headers or None
        return self._noted(self._caller.ask("POST", url, headers=own, form=dict(fields)))

    def json(
        self, path: str, document: object, token: SecretText | None = None, **headers: str
    ) -> Answer:
        """Post a JSON document below the base URL."""
        return self.send(
            "POST", self.address(path), token=token, document=document, headers=headers
        )

    def get(self, path: str) -> Answer:
        """Get below the base URL."""
        return self.send("GET", self.address(path))

    def address(self, path: str) -> str:
        """Return an address below the base URL."""
        return self.target.base_url.rstrip("/") + path

    # What credentials give

    def entity_token(self, credentials: EntityCredentials) -> Answer:
        """Generate an Entity Access Token."""
        answer = self.form(
            "/v1/entity/token/generate",
            {"id": credentials.entity_id, "secret": credentials.secret.reveal()},
        )
        return self._hiding(answer, "accessToken")

    def user_token(self) -> Answer:
        """Generate a User Access Token."""
        assert self.target.user is not None
        answer = self.form(
            "/v1/user/token/generate",
            {
                "username": self.target.user.username,
                "password": self.target.user.password.reveal(),
            },
        )
        return self._hiding(answer, "accessToken")

    def read_secret(self, **headers: str) -> Answer:
        """Read the entity's secret; with the user's token unless headers are given."""
        token = None if headers else self.user_bearer
        document = {"entityId": self.entity.entity_id}
        answer = self.json("/v1/entity/secret/read", document, token, **headers)
        return self._hiding(answer, "secret")

    def reset_secret(self, **fields: object) -> Answer:
        """Reset the entity's secret."""
        document = {"entityId": self.entity.entity_id, **fields}
        answer = self.json("/v1/entity/secret/reset", document, self.user_bearer)
        if answer.status == httpx2.codes.OK:
            self.resets += 1
        return self._hiding(answer, "secret")

    def _noted(self, answer: Answer) -> Answer:
        self.asked = answer.request
        return answer

    def _hiding(self, answer: Answer, field: str) -> Answer:
        self.redaction.hide(SecretText(answer.text(field)))
        return answer

    # What several checks share, asked for once

    @property
    def entity(self) -> EntityCredentials:
        """The entity's credentials, which the check needs."""
        assert self.target.entity is not None
        return self._entity or self.target.entity

    def use_secret(self, secret: SecretText) -> None:
        """Go on with a new secret of the entity."""
        self._entity = EntityCredentials(self.entity.entity_id, self.redaction.hide(secret))

    @property
    def aa(self) -> EntityCredentials:
        """The AA's credentials, which the check needs."""
        assert self.target.aa is not None
        return self.target.aa

    @cached_property
    def entity_answer(self) -> Answer:
        """The answer with the entity's token."""
        return self.entity_token(self.entity)

    @cached_property
    def aa_answer(self) -> Answer:
        """The answer with the AA's token."""
        return self.entity_token(self.aa)

    @cached_property
    def user_answer(self) -> Answer:
        """The answer with the user's token."""
        return self.user_token()

    @cached_property
    def secret_answer(self) -> Answer:
        """The answer with the entity's secret."""
        return self.read_secret()

    @cached_property
    def refused_password(self) -> Answer:
        """The answer to the user's name with a wrong password."""
        assert self.target.user is not None
        fields = {"username": self.target.user.username, "password": "not-the-password-of-anyone"}
        return self.form("/v1/user/token/generate", fields)

    @cached_property
    def refused_form(self) -> Answer:
        """The answer to a request for an entity token without any field."""
        return self.form("/v1/entity/token/generate", "")

    @cached_property
    def refused_secret(self) -> Answer:
        """The answer to a request for an entity token with a wrong secret."""
        fields = {"id": "no-such-entity", "secret": "no-such-secret-for-conformance"}
        return self.form("/v1/entity/token/generate", fields)

    @property
    def entity_bearer(self) -> SecretText:
        """The entity's token; raises NoToken where there is none."""
        return _token_of(self.entity_answer, "Entity Access Token of the entity")

    @property
    def aa_bearer(self) -> SecretText:
        """The AA's token; raises NoToken where there is none."""
        return _token_of(self.aa_answer, "Entity Access Token of the AA")

    @property
    def user_bearer(self) -> SecretText:
        """The user's token; raises NoToken where there is none."""
        return _token_of(self.user_answer, "User Access Token")

    @property
    def entity_jwt(self) -> Jwt:
        """The entity's token, read without being verified."""
        return read_jwt(self.entity_bearer)

    @property
    def issuer(self) -> str:
        """The issuer that the entity's token names, from which clients build addresses."""
        return str(self.entity_jwt.claims.get("iss", ""))

    @cached_property
    def keys_answer(self) -> Answer:
        """The published keys, where clients look that have a token only."""
        if not self.issuer.startswith(("http://", "https://")):
            return Answer(NO_ANSWER, problem="iss of the entity token is no address")
        return self.send("GET", f"{self.issuer}/protocol/openid-connect/certs")

    @cached_property
    def key(self) -> RSAKey:
        """A key of this run, of which no private part is kept."""
        return RSAKey.generate_key(2048)

    @cached_property
    def reset_session(self) -> ResetSession:
        """The resets of this run."""
        return ResetSession(self)

    @staticmethod
    def type_of(token: SecretText) -> str:
        """Return the type of the entity of a token; empty where it names none."""
        return str(read_jwt(token).claims.get("roles", ""))

    def now(self) -> datetime:
        """Return the implementation's time: of its last refusal, else by `Date`, else ours."""
        answer = self.form("/v1/entity/token/generate", "")
        stated = moment(answer.field("timestamp"))
        if stated is not None:
            return stated.astimezone(UTC)
        try:
            return parsedate_to_datetime(answer.headers.get("Date", "")).astimezone(UTC)
        except (ValueError, OverflowError):
            return datetime.fromtimestamp(self._wall(), UTC)


def _token_of(answer: Answer, what: str) -> SecretText:
    token = answer.text("accessToken")
    if not token:
        limited = answer.status == httpx2.codes.TOO_MANY_REQUESTS
        raise NoToken(what, answer.described(), answer.request, limited=limited)
    return SecretText(token)
