"""Every route about people by every caller on every object."""

import contextlib
import itertools
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from urllib.parse import urlsplit

import httpx2
import jwt
import pytest
from tests.security.people.accounts import disable
from tests.security.people.people_rows import CALLERS, OBJECTS, ROWS, SCOPES, UNKNOWN_ID, Row
from tests.support.depth import part
from tests.support.http_clients import NO_TLS, new_address
from tests.support.mailbox import latest_link
from tests.support.members import Member, new_member, set_password
from tests.support.people.operators import new_operator
from tests.support.service import PASSWORD, Service
from tests.support.until import PATIENCE_S

from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.wiring import open_http_edge
from mudra.identity.accounts.people_store import People
from mudra.identity.operators.operator_store import Operators
from mudra.tokens.claims import TokenKind


@dataclass
class Cast:
    """Two members, their people, and the tokens that callers come with."""

    a: Member
    b: Member
    victims: dict[str, str]
    """User IDs of admins who are there to be looked after."""
    tokens: dict[str, str]
    emails: dict[str, str]

    def fill(self, text: str, which: str) -> str:
        """Name the object, whose own addresses are those of the entity's admins."""
        entity = {"A": self.a.entity_id, "B": self.b.entity_id}.get(which, "NO-SUCH-ENTITY")
        member = self.b if which == "B" else self.a
        return (
            text.replace("{entity}", entity)
            .replace("{user}", self.victims[which])
            .replace("{email}", member.email)
            .replace("{mail}", UNKNOWN_ID)
            .replace("{new}", f"X1-{uuid.uuid4().hex[:10]}".upper())
        )


def added_admin(member: Member, role: str = "admin") -> tuple[Member, str]:
    """Add an admin or reader and activate the account; gives it with its user ID."""
    email = f"x1-{uuid.uuid4().hex[:10]}@member.example"
    added = member.client.post(
        "/v1/entity/admin/add",
        json={"entityId": member.entity_id, "email": email, "name": "Ravi Iyer", "role": role},
        headers=member.bearer(),
    )
    (user_id,) = [admin["userId"] for admin in added.json()["admins"] if admin["email"] == email]
    client = member.service.client()
    assert set_password(client, latest_link(member.service, email)).status_code == 200
    return Member(member.service, member.entity_id, email, PASSWORD, client), user_id


NO_RIGHT = {
    "garbage",
    "expired user",
    "revoked user",
    "disabled user",
    "wrong audience",
    "signed by no one",
}
"""Callers that are refused before the object is looked at."""


@pytest.fixture(scope="module")
def cast(service: Service) -> Cast:
    a, b = new_member(service), new_member(service)
    expired = a.user_token()
    service.advance("P180DT5M")  # not later: its key is published until its last token ends
    for member in (a, b):
        assert member.reset().status_code == 200  # the first secrets have expired
    second, _ = added_admin(a)
    former, _ = added_admin(a)
    disabled, _ = added_admin(a)
    reader, _ = added_admin(a, "reader")
    victim_a, victim_b = added_admin(a)[1], added_admin(b)[1]
    tokens = {
        "garbage": "garbage",
        "admin A": a.user_token(),
        "second admin A": second.user_token(),
        "former admin A": former.user_token(),
        "reader A": reader.user_token(),
        "admin B": b.user_token(),
        "entity A": a.entity_token(a.secret()).json()["accessToken"],
        "entity B": b.entity_token(b.secret()).json()["accessToken"],
        "expired user": expired,
        "revoked user": a.user_token(),
        "disabled user": disabled.user_token(),
        "wrong audience": for_another_audience(a),
    }
    head, claims, signature = tokens["admin A"].split(".")
    tokens["signed by no one"] = f"{head}.{claims}.{signature[::-1]}"
    for scope in SCOPES:
        operator = new_operator(service, scope)
        tokens[f"operator {scope}"] = operator.headers["Authorization"].removeprefix("Bearer ")
    ended = new_operator(service, "registry")
    tokens["operator without scope"] = ended.headers["Authorization"].removeprefix("Bearer ")
    end_role(a, ended.email)

    headers = {"Authorization": f"Bearer {tokens['admin A']}"}
    gone = {"entityId": a.entity_id, "email": former.email}
    assert a.client.post("/v1/entity/admin/remove", json=gone, headers=headers).status_code == 200
    a.client.post("/oauth2/revoke", data={"token": tokens["revoked user"]})
    disable(service, disabled.email)
    missing = str(uuid.UUID(int=9))
    emails = {"second admin A": second.email, "admin B": b.email}
    return Cast(a, b, {"A": victim_a, "B": victim_b, "missing": missing}, tokens, emails)


def for_another_audience(member: Member) -> str:
    """A token of a user that the service's own key signed, for somebody else's service."""
    claims = jwt.decode(member.user_token(), options={"verify_signature": False})

    async def act(dependencies: Dependencies) -> str:
        keys = open_http_edge(dependencies).http.signer
        await keys.ready()
        return keys.sign(TokenKind.USER, {**claims, "aud": "https://elsewhere.example"})

    return member.service.in_store(act)


def end_role(member: Member, email: str) -> None:
    """Take an operator's scopes; the account and its token stay."""

    async def act(dependencies: Dependencies) -> None:
        async with dependencies.transaction() as tx:
            user = await People(tx).by_username(email)
            assert user is not None
            await Operators(tx).set_scopes(user.user_id, frozenset())

    member.service.in_store(act)


@pytest.fixture
def line(cast: Cast) -> Iterator[HTTPConnection]:
    """A connection to the service, whose client takes a quarter of the CPU of httpx2 for a call."""
    address = urlsplit(cast.a.service.root)
    with contextlib.closing(
        HTTPConnection(
            str(address.hostname),
            address.port,
            timeout=PATIENCE_S,
            source_address=(new_address(), 0),
        )
    ) as made:
        yield made


def called(line: HTTPConnection, cast: Cast, row: Row, caller: str, which: str) -> httpx2.Response:
    """Call a route."""
    token = cast.tokens.get(caller)
    own = cast.emails.get(caller, cast.a.email)
    body = {
        name: cast.fill(value, which).replace("{own}", own) if isinstance(value, str) else value
        for name, value in row.body.items()
    }
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if row.method == "POST":
        headers["Content-Type"] = "application/json"
    line.request(
        row.method,
        cast.fill(row.path, which),
        json.dumps(body) if row.method == "POST" else None,
        headers,
    )
    answer = line.getresponse()
    return httpx2.Response(answer.status, headers=answer.getheaders(), content=answer.read())


@pytest.mark.deeper
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path}")
def test_each_caller_gets_what_its_rights_give_and_nothing_else(
    line: HTTPConnection, cast: Cast, row: Row
) -> None:
    """X1, S8: all callers, all objects.

    Tokens that give no right to anything come with one object at each route, in turn. With every
    change who is to be admitted is, and of those to be refused a fifth, another one at each route.
    """
    turn = ROWS.index(row)
    asked = [
        (caller, which)
        for caller, which in itertools.product(CALLERS, OBJECTS)
        if caller not in NO_RIGHT or which == OBJECTS[turn % len(OBJECTS)]
    ]
    refused = part([one for one in asked if not row.admits(*one)], turn)
    for caller, which in asked:
        if not row.admits(caller, which) and (caller, which) not in refused:
            continue
        answer = called(line, cast, row, caller, which)

        shown = f"{caller} on {which}: {answer.status_code} {answer.text}"
        if row.admits(caller, which):
            assert answer.status_code in row.answers, shown
            continue
        assert answer.status_code == 401, shown
        assert answer.headers["www-authenticate"].startswith("Bearer"), shown
        assert answer.json()["errorCode"] == {
            "expired user": "TokenExpired",
            "revoked user": "TokenRevoked",
            "disabled user": "TokenRevoked",  # its tokens ended with the account
        }.get(caller, "Unauthorized"), shown
        assert set(answer.json()) == {"ver", "timestamp", "txnId", "errorCode", "errorMsg"}, shown


@pytest.mark.parametrize("row", [row for row in ROWS if not row.scope], ids=lambda row: row.path)
def test_anothers_entity_and_a_missing_one_are_indistinguishable(
    line: HTTPConnection, cast: Cast, row: Row
) -> None:
    """X1, S8: what is not one's own looks as if it were not there."""
    answers = [called(line, cast, row, "admin A", which) for which in ("B", "missing")]

    shown = {(a.status_code, a.json().get("errorCode"), a.json().get("errorMsg")) for a in answers}
    assert len(shown) == 1


def test_a_refused_caller_hears_nothing_of_the_fields(cast: Cast) -> None:
    """The right is asked before the fields are (decision 0009)."""
    for caller in ("nobody", "garbage", "admin A", "operator health"):
        token = cast.tokens.get(caller)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = httpx2.get(
            f"{cast.a.service.root}/operator/v1/members?limit=none",
            headers=headers,
            verify=NO_TLS,
        )
        assert answer.status_code == 401, caller
    with_right = {"Authorization": f"Bearer {cast.tokens['operator members']}"}
    answer = httpx2.get(
        f"{cast.a.service.root}/operator/v1/members?limit=none",
        headers=with_right,
        verify=NO_TLS,
    )
    assert answer.status_code == 400
    assert "limit" in answer.json()["errorMsg"]


def test_options_names_all_methods_of_a_path(cast: Cast) -> None:
    """I5: also where several handlers share it."""
    answer = httpx2.options(
        f"{cast.a.service.root}/operator/v1/members", timeout=PATIENCE_S, verify=NO_TLS
    )

    assert answer.headers["allow"] == "GET, HEAD, OPTIONS, POST"
