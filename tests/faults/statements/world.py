"""A small network in this process: three members, their admins, and two operators."""

import re
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import httpx2
import msgspec
import psycopg
from tests.faults.statements.drill import Drill
from tests.support.cheap_hashes import cheap_hashes
from tests.support.in_process import InProcess

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.demo.activation import activate, hash_once
from mudra.http.response.sandbox_responses import mail_response
from mudra.identity.memberships.onboard import NewMember, Onboarded, onboard_member
from mudra.identity.operators.manage_operators import save_operator
from mudra.identity.operators.operator import Scope
from mudra.identity.operators.person_rule import owner
from mudra.jobs.key_rotation import maintain_keys
from mudra.storage.mail.outbox import Outbox

AA, FIP, FIU = "SAARTHI-AA", "KAVERI-FIP", "FINSIGHT-FIU"
ADMINS: Final = {AA: "meera@aa.example", FIP: "lakshmi@fip.example", FIU: "asha@fiu.example"}
STAFF, DEPUTY = "vikram@network.example", "zoya@network.example"
PASSWORD: Final = "granite otter velvet lamp"
CALLER: Final = Caller("operator:test")


async def set_up(dependencies: Dependencies) -> None:
    """Onboard and activate the network."""
    await maintain_keys(dependencies.transaction)
    with cheap_hashes():
        hashed = await hash_once(dependencies, PASSWORD)
    for entity_id, email in ADMINS.items():
        member = NewMember(entity_id, entity_id[-3:].strip("-"), "A Bank", email, "Lakshmi Iyer")
        async with dependencies.transaction() as tx:
            onboarded = await onboard_member(tx, member, owner(CALLER))
        assert isinstance(onboarded, Onboarded)
        await activate(dependencies, onboarded.admin, hashed)
    for email in (STAFF, DEPUTY):
        async with dependencies.transaction() as tx:
            made = await save_operator(tx, email, "Vikram", frozenset(Scope), CALLER)
        await activate(dependencies, made.user, hashed)


@dataclass
class World:
    """The network, and who calls it."""

    served: InProcess
    store: psycopg.Connection[Any]
    drill: Drill

    def __post_init__(self) -> None:
        self.staff = self.user(STAFF)
        self.deputy = self.user(DEPUTY)
        self.admin = self.user(ADMINS[FIP])
        self.aa, self.fiu = self.entity(AA), self.entity(FIU)
        # What is written behind is an act of its own.
        self.served.do(self.served.edge.issue_log.stop())

    def act(
        self,
        operation: str,
        by: httpx2.Client,
        body: Any = None,
        *,
        form: bool = False,
        **places: str,
    ) -> httpx2.Response:
        """Drill an operation of the document, with this body and these parts of its path."""
        method, _, path = operation.partition(" ")
        url = re.sub(r"\{(\w+)\}", lambda place: places.pop(place[1]), path)
        sent = {} if method == "DELETE" else {"data" if form else "json": body or {}}
        return self.drill(operation, lambda: by.request(method, url, params=places, **sent))

    def user(self, email: str, password: str = PASSWORD) -> httpx2.Client:
        """A client with a token of a person."""
        login = {"username": email, "password": password}
        answer = self.served.client().post("/iam/v1/user/token/generate", data=login)
        assert answer.status_code == 200, answer.text
        return self.served.client(answer.json()["accessToken"])

    def secret(self, entity_id: str) -> str:
        """The secret of a member."""
        own = self.user(ADMINS[entity_id])
        read = own.post("/iam/v1/entity/secret/read", json={"entityId": entity_id})
        found = read.json()["secret"]
        assert isinstance(found, str)
        return found

    def entity(self, entity_id: str) -> httpx2.Client:
        """A client with a token of a member."""
        form = {"id": entity_id, "secret": self.secret(entity_id)}
        answer = self.served.client().post("/iam/v1/entity/token/generate", data=form)
        assert answer.status_code == 200, answer.text
        return self.served.client(answer.json()["accessToken"])

    def one(self, query: str, *values: object) -> str:
        """The only value of a query."""
        row = self.store.execute(query, values).fetchone()
        assert row is not None, query
        return str(row[0])

    def user_id(self, email: str) -> str:
        """The ID of an account."""
        return self.one("SELECT user_id FROM user_account WHERE email = %s", email)

    def link(self, email: str) -> str:
        """The token of the link of the latest mail to an address."""

        async def read() -> str:
            async with self.served.edge.dependencies.transaction() as tx:
                mails = [
                    msgspec.to_builtins(mail_response(m))
                    for m in await tx.service(Outbox).mails(to=email)
                ]
            return [mail["links"][0] for mail in mails if mail["links"]][-1].rpartition("/")[2]

        found = self.served.do(read())
        assert isinstance(found, str)
        return found

    def advance(self, duration: str) -> datetime:
        """Move the clock; gives its time then."""
        answer = self.served.client().post("/sandbox/v1/clock", json={"advance": duration})
        assert answer.status_code == 200, answer.text
        return datetime.fromisoformat(answer.json()["now"])

    def now(self) -> datetime:
        """The service's time."""
        return self.advance("PT0S")


def new_id() -> str:
    """An ID that nothing has."""
    return str(uuid.uuid4())
