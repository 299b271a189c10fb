"""The API as commands call it: over HTTP as the signed-in user, or in this process as the owner."""

import asyncio
import contextlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import quote, urljoin

import httpx2

from mudra.cli.local.program import CommandFailed
from mudra.cli.output.output import Exit
from mudra.client.errors import is_untrusted, kind_of_failure
from mudra.shared.secret_text import SecretText

TIMEOUT_S: Final = 30.0
_SLOW_S: Final = 5.0
_PAGE: Final = 1000
_ENVELOPE: Final = ("ver", "timestamp", "txnId")
Names: TypeAlias = Mapping[str, str]
"""How a command calls the fields of a request."""
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})

T = TypeVar("T")


class Answer(dict[str, Any]):
    """A JSON object of an answer; a missing member ends the command.

    Members that no command names are ignored: the service may be a newer one.
    """

    def __missing__(self, name: str) -> object:
        raise CommandFailed(f"the service answered without {name}: is --base-url right?")

    @property
    def content(self) -> dict[str, Any]:
        """The members of the answer without its envelope."""
        return {name: value for name, value in self.items() if name not in _ENVELOPE}


class Api:
    """Calls the API for one command.

    A path with a leading slash is one of the service, any other one of the issuer. A refusal ends
    the command with the service's sentence.
    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        issuer: str = "",
        token: SecretText | None = None,
        user: str = "",
    ) -> None:
        """`user` is who signed in, for the sentence of a right that this person lacks."""
        self._client = client
        self.issuer = issuer
        self._user = user
        self._base = f"{issuer or 'http://127.0.0.1'}/"
        self._headers = {"Authorization": "Bearer " + token.reveal()} if token else {}

    async def get(
        self, path: str, query: Mapping[str, str] = _NOTHING, names: Names = _NOTHING
    ) -> Answer:
        """Read; empty values of the query are left out. For `names` see `post`."""
        return self.done(*await self.send("GET", path, query=_filled(query)), names=names)

    async def now(self) -> datetime:
        """Return the time of the service, whose clock a sandbox moves."""
        return datetime.fromisoformat((await self.get("/operator/v1/health/silences"))["timestamp"])

    async def post(
        self, path: str, body: Mapping[str, object] | None = None, names: Names = _NOTHING
    ) -> Answer:
        """Send JSON; `names` are fields whose refusal is wrong usage, in the command's words."""
        return self.done(*await self.send("POST", path, body or {}), names=names)

    async def put(self, path: str) -> Answer:
        """Have what the path says; again changes nothing."""
        return self.done(*await self.send("PUT", path))

    async def delete(self, path: str) -> Answer:
        """End what the path says."""
        return self.done(*await self.send("DELETE", path))

    async def form(self, path: str, fields: Mapping[str, str]) -> Answer:
        """Send a form."""
        response = await self._answered("POST", path, {"data": fields})
        return self.done(response.status_code, self._members(path, response))

    async def of_entity(self, entity_id: str) -> "Api":
        """Return the calls of an entity, by a token that its secret gives."""
        issued = await self.entity_token(entity_id)
        return Api(self._client, self.issuer, SecretText(issued["accessToken"]))

    async def entity_token(self, entity_id: str) -> Answer:
        """Read the secret of an entity and generate an Entity Access Token with it."""
        read = await self.post("v1/entity/secret/read", {"entityId": entity_id})
        form = {"id": entity_id, "secret": read["secret"]}
        return await self.form("v1/entity/token/generate", form)

    async def text(
        self, path: str, query: Mapping[str, str] = _NOTHING, names: Names = _NOTHING
    ) -> str:
        """Read a text, such as CSV. For `names` see `post`."""
        return (await self.file(path, query, names)).decode()

    async def file(
        self, path: str, query: Mapping[str, str] = _NOTHING, names: Names = _NOTHING
    ) -> bytes:
        """Read a file, such as a PDF. For `names` see `post`."""
        response = await self._answered("GET", path, {"params": _filled(query)})
        if not response.is_success:
            self.done(response.status_code, self._members(path, response), names)
        return response.content

    async def pages(
        self,
        path: str,
        of: str,
        query: Mapping[str, str] = _NOTHING,
        at_most: int = sys.maxsize,
    ) -> Sequence[Answer]:
        """Read a list page by page, to its end or to `at_most` rows."""
        found: list[Answer] = []
        after = ""
        while True:
            limit = str(min(_PAGE, at_most - len(found)))
            page = await self.get(path, {**query, "limit": limit, "after": after})
            found += page[of]
            after = page.get("next", "")
            if not after or len(found) >= at_most:
                return found

    async def send(
        self, method: str, path: str, body: object = None, query: Mapping[str, str] | None = None
    ) -> tuple[int, Answer]:
        """Send JSON; gives status and answer, whatever the service said."""
        sent: dict[str, Any] = {"json": body} if query is None else {"params": query}
        response = await self._answered(method, path, sent)
        return response.status_code, self._members(path, response)

    async def _answered(self, method: str, path: str, sent: Mapping[str, Any]) -> httpx2.Response:
        url = f"{self._base}{path}"  # where it cannot be joined
        try:
            url = urljoin(self._base, path)
            with said_when_slow(self.issuer):
                return await self._client.request(method, url, headers=self._headers, **sent)
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, ValueError) as error:
            raise CommandFailed(
                f"{url} is no address of a service ({error}): is --base-url right?"
            ) from error
        except httpx2.HTTPError as error:
            ask = (
                "add its authority to those of this machine, or name it in SSL_CERT_FILE"
                if is_untrusted(error)
                else "is the service running, and is --base-url right?"
            )
            raise CommandFailed(
                f"{url} did not answer ({kind_of_failure(error)}): {ask}",
                Exit.UNREACHABLE,
            ) from error

    def _members(self, path: str, response: httpx2.Response) -> Answer:
        try:
            members = json.loads(response.content, object_hook=Answer)
        except ValueError:
            members = None
        if not isinstance(members, Answer):
            raise CommandFailed(
                f"{urljoin(self._base, path)} answered {response.status_code} without JSON: "
                "is --base-url right?"
            )
        return members

    def done(self, status: int, answer: Answer, names: Names = _NOTHING) -> Answer:
        """Return an answer, or end the command with the sentence of a refusal."""
        if httpx2.codes.is_success(status):
            return answer
        raise self._failure(status, answer, names)

    def _failure(self, status: int, answer: Answer, names: Names) -> CommandFailed:
        sentence = str(answer.get("errorMsg", "refused"))
        if status == httpx2.codes.BAD_REQUEST and sentence.partition(" ")[0] in names:
            for field, name in names.items():
                sentence = re.sub(rf"\b{field}\b", name, sentence, count=1)
            return CommandFailed(sentence, Exit.USAGE)
        if self.issuer:
            code = answer.get("errorCode", status)
            sentence += f" ({code}, txnId {answer.get('txnId')})"
        if self._user and answer.get("errorCode") in _ENDED:
            return CommandFailed(f"{sentence}; run mudra login {self._user}", Exit.NOT_SIGNED_IN)
        if self._user and status in _OF_THE_PERSON:
            sentence += f"; signed in as {self._user}: mudra login EMAIL changes it"
        return CommandFailed(sentence, _EXITS.get(status, Exit.FAILED))


_ENDED: Final = ("TokenExpired", "TokenRevoked")
_OF_THE_PERSON: Final = (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN)


@contextlib.contextmanager
def said_when_slow(issuer: str, after_s: float = _SLOW_S) -> Iterator[None]:
    """Say on standard error, once, that a service has not answered for seconds."""
    if not issuer:
        yield
        return
    line = f"mudra: no answer from {issuer} yet; waiting up to {TIMEOUT_S:.0f} s"
    timer = asyncio.get_running_loop().call_later(after_s, partial(print, line, file=sys.stderr))
    try:
        yield
    finally:
        timer.cancel()


_EXITS: Final[Mapping[int, Exit]] = {
    httpx2.codes.TOO_MANY_REQUESTS: Exit.WAIT,
    httpx2.codes.SERVICE_UNAVAILABLE: Exit.UNREACHABLE,
}


def _filled(query: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in query.items() if value}


def in_path(segment: object) -> str:
    """Return a text as one segment of a path."""
    return quote(str(segment), safe="")


def given(options: Mapping[str, T | None]) -> dict[str, T]:
    """Return the options that were typed, as a body that changes nothing else."""
    return {name: one for name, one in options.items() if one is not None}
