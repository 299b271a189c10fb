"""A network whose metrics are in a second database, in this process; its jobs run when asked."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import httpx2
import psycopg
from psycopg.conninfo import conninfo_to_dict
from tests.support.cheap_hashes import cheap_hashes
from tests.support.database.own_postgres import as_superuser
from tests.support.in_process import InProcess, in_process
from tests.support.metrics.health_network import HEALTHY, Fault, notifications_of, requests_of
from tests.support.metrics.metrics_push import PushingAa
from typer.testing import CliRunner, Result

from mudra.audit.event import Caller
from mudra.bootstrap.command_line import app
from mudra.bootstrap.config import load_settings
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.node.serve import open_store
from mudra.demo.activation import activate, hash_once
from mudra.identity.memberships.onboard import NewMember, onboard_member
from mudra.identity.operators.manage_operators import save_operator
from mudra.identity.operators.operator import Scope
from mudra.identity.operators.person_rule import owner
from mudra.jobs.key_rotation import maintain_keys
from mudra.jobs.metrics_jobs import detect_incidents, refresh_rollups
from mudra.metrics.payload.catalogue import WINDOW, window_start

AAS = ("ALPHA-AA", "BETA-AA", "GAMMA-AA")
FIPS = ("KAVERI-FIP", "TUNGA-FIP")
STAFF = "vikram@network.example"
PASSWORD = "granite otter velvet lamp"
ROOT = "http://127.0.0.1:8080"
_CALLER = Caller("operator:test")


def email_of(entity_id: str) -> str:
    """The address of a member's admin."""
    return f"admin@{entity_id.lower()}.example"


@dataclass
class TwoDatabases:
    """Addresses of the databases, and the environment of commands."""

    first: str
    second: str
    environment: dict[str, str]
    blank: str
    """A migrated one to copy, to which no one connects."""

    def cli(self, *words: str, check: bool = True, **variables: str) -> Result:
        """Run a command over both."""
        done = CliRunner().invoke(app, list(words), env={**self.environment, **variables})
        assert not check or done.exit_code == 0, done.output
        return done

    def rows(self, url: str, query: str) -> list[tuple[Any, ...]]:
        """Ask one of them."""
        with psycopg.connect(url) as connection:
            return connection.execute(query.encode()).fetchall()

    def cut(self, url: str) -> None:
        """End all connections to one of them, as a crash of its server does."""
        name = conninfo_to_dict(url)["dbname"]
        as_superuser(
            self.first,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE datname = '{name}' AND pid <> pg_backend_pid()",
        )


def a_copy(url: str, name: str) -> str:
    """Copy an empty, migrated database that no one is connected to; gives the copy's address."""
    template = conninfo_to_dict(url)["dbname"]
    server = url.replace(f"/{template}?", "/postgres?")
    as_superuser(server, f"CREATE DATABASE {name} TEMPLATE {template}")
    return url.replace(f"/{template}?", f"/{name}?")


def environment_of(folder: str, first: str, second: str = "") -> dict[str, str]:
    """The settings of a service over these databases."""
    return {
        "MUDRA_DATA_DIR": folder,
        "MUDRA_DATABASE_URL": first,
        "MUDRA_ARGON2_MEMORY_MIB": "19",
        "MUDRA_METRICS_DATABASE_URL": second,
    }


@dataclass
class ApartNetwork:
    """Members, an operator, and what they ask of one worker with one connection to each."""

    served: InProcess
    tokens: dict[str, str]
    operator: str
    now: datetime

    @property
    def dependencies(self) -> Dependencies:
        return self.served.edge.dependencies

    def aa(self, aa_id: str) -> PushingAa:
        """An AA that pushes through the real address."""
        service = cast("Any", SimpleNamespace(root=ROOT))
        return PushingAa(service, aa_id, self.tokens[aa_id], self.served.client())

    def window(self, ago: int) -> datetime:
        """A closed window, the last one for 1; the same for the whole life of the network."""
        return window_start(self.now) - ago * WINDOW

    def report(self, ago: Sequence[int], *faults: Fault, aas: Sequence[str] = AAS) -> None:
        """Push both payloads of these windows."""
        for number in ago:
            for aa_id in aas:
                aa, window = self.aa(aa_id), self.window(number)
                for payload in (
                    requests_of(aa, window, faults or [HEALTHY], FIPS, 100),
                    notifications_of(aa, window, faults or [HEALTHY], FIPS, 100),
                ):
                    answer = aa.push(payload)
                    assert answer.status_code == 200, answer.text

    def advance(self, minutes: int) -> None:
        """Let windows pass."""
        moved = {"advance": f"PT{minutes}M"}
        answer = self.served.client().post("/sandbox/v1/clock", json=moved)
        assert answer.status_code == 200, answer.text
        self.now += timedelta(minutes=minutes)

    def detect(self, *, carry_over: bool = True) -> None:
        """Run the jobs of sums and incidents, and the one that hands over."""
        work = self.dependencies.metrics_maintenance
        self.served.do(refresh_rollups(work))
        handed_over = self.dependencies.carry_over if carry_over else None
        self.served.do(detect_incidents(work, handed_over))

    def ask(self, path: str, **query: str) -> httpx2.Response:
        """Ask as the operator."""
        return self.served.client(self.operator).get(path, params=query)

    def mails(self, entity_id: str) -> list[str]:
        """The subjects of the emails to a member's admin."""

        async def read() -> list[str]:
            async with self.dependencies.database.transaction() as transaction:
                outbox = self.dependencies.outbox(transaction)
                return [one.email.subject for one in await outbox.mails(email_of(entity_id))]

        subjects = cast("list[str]", self.served.do(read()))
        return [one.partition(": ")[2] for one in subjects]


@contextlib.contextmanager
def a_network(environment: Mapping[str, str]) -> Iterator[ApartNetwork]:
    """Make members, sign them in, and give the network."""
    settings = load_settings(environment, {"sandbox": True})
    with (
        cheap_hashes(),
        open_store(settings, create=True) as opened,
        in_process(settings, *opened, connections=1) as served,
    ):
        client = served.client()
        if served.do(_set_up(served.edge.dependencies)):
            # No window ends while these members are there, but where a test lets one pass.
            now = served.edge.dependencies.clock()
            left = window_start(now) + WINDOW - now
            moved = {"advance": f"PT{left.seconds + 5}S"}
            assert client.post("/sandbox/v1/clock", json=moved).status_code == 200
        secrets = {aa_id: _secret(served, aa_id) for aa_id in AAS}
        tokens = {
            aa_id: client.post(
                "/iam/v1/entity/token/generate", data={"id": aa_id, "secret": secret}
            ).json()["accessToken"]
            for aa_id, secret in secrets.items()
        }
        staff = _user_token(served, STAFF)
        yield ApartNetwork(served, tokens, staff, served.edge.dependencies.clock())


def _user_token(served: InProcess, email: str) -> str:
    login = {"username": email, "password": PASSWORD}
    answer = served.client().post("/iam/v1/user/token/generate", data=login)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["accessToken"])


def _secret(served: InProcess, entity_id: str) -> str:
    own = served.client(_user_token(served, email_of(entity_id)))
    answer = own.post("/iam/v1/entity/secret/read", json={"entityId": entity_id})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["secret"])


async def _set_up(dependencies: Dependencies) -> bool:
    """Make the members unless they are there; gives whether they are new."""
    await maintain_keys(dependencies.unit_of_work)
    async with dependencies.unit_of_work() as work:
        if await work.people.members():
            return False
    hashed = await hash_once(dependencies, PASSWORD)
    for entity_id in (*AAS, *FIPS):
        kind = entity_id.rpartition("-")[2]
        member = NewMember(entity_id, kind, "A Bank", email_of(entity_id), "Lakshmi Iyer")
        async with dependencies.unit_of_work() as work:
            onboarded = await onboard_member(work, member, owner(_CALLER))
        await activate(dependencies, onboarded.admin, hashed)
    async with dependencies.unit_of_work() as work:
        made = await save_operator(work, STAFF, "Vikram", frozenset(Scope), _CALLER)
    await activate(dependencies, made.user, hashed)
    return True
