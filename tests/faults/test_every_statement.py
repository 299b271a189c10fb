"""A fault at every statement of an act leaves nothing of it, and the act can be done again.

Each call that changes something is made again and again, with a fault one exchange with the
database later each time: a statement, a COPY or a commit. What every call changes is seen in all
tables. The calls come from the document of the service, so that a new one fails here until it is
among the acts.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from tests.faults.statements import acts_of_people, acts_of_the_network
from tests.faults.statements.drill import KEEPS_COMMITS, Drill
from tests.faults.statements.exchanges import faults_may_happen
from tests.faults.statements.world import World, set_up
from tests.support.database.template_database import prepare
from tests.support.depth import DEEP
from tests.support.in_process import in_process

from mudra.audit.event import EventName
from mudra.bootstrap.node.serve import open_store
from mudra.settings.parse import Rate
from mudra.settings.settings import Settings
from mudra.storage.database.embedded.cluster import CLUSTER

pytestmark = pytest.mark.deeper

CHAPTERS: tuple[Callable[[World], None], ...] = (
    acts_of_people.members,
    acts_of_people.accounts,
    acts_of_people.secrets,
    acts_of_people.console,
    acts_of_the_network.registry,
    acts_of_the_network.pushes,
    acts_of_the_network.incidents,
    acts_of_the_network.levels,
    acts_of_the_network.disputes,
    acts_of_the_network.alarms,
    acts_of_the_network.operations,
)
LEAST = 1200 if DEEP else 200
"""Exchanges that fail, of all acts together."""
NO_ACTS = {
    "POST /cr/v2/lint/{entity_type}": "reads",
    "POST /iam/v1/entity/admin/list": "reads",
    "POST /iam/oauth2/introspect": "reads",
    "POST /iam/oauth2/token": "reads; the issue is written behind, as that of entity/token",
    "POST /sandbox/v1/clock": "time that has moved stays moved; the sandbox alone",
}
"""Operations of the document that are not drilled, and why."""
NOT_SEEN = {
    "of jobs and commands, which have transactions of their own": {
        *("audit:epoch:open", "audit:range:archive", "audit:range:drop", "audit:record:export"),
        *("audit:restore:confirm", "audit:tokens:drop", "audit:tokens:pack"),
        *("database:backup:restore", "database:place:move"),
        *("entity:secret:remind", "keys:master:rotate"),
        *("keys:signing:destroy", "keys:signing:import", "mail:letter:send"),
        "metrics:report:remove",
        *("registry:entry:probe", "registry:vocabulary:change", "user:password:forgot"),
        *("sandbox:clock:advance", "sandbox:history:fill"),
        *("dispute:case:lapse", "dispute:case:delay", "service:release:start"),
        *("metrics:capacity:notice", "metrics:capacity:over"),
        *("levels:budget:alarm", "registry:key:factor"),
    },
    "of refusals: what a refused act writes is its audit row alone": {
        *("entity:secret:refuse", "entity:token:refuse", "metrics:report:refuse"),
        *("operator:sign_in:refuse", "registry:entry:refuse", "user:link:refuse"),
        *("user:password:disable", "user:sign_in:refuse"),
    },
    "need a provider, a key of a client, or hashes of other parameters": {
        *("operator:sign_in:succeed", "entity:token:bind", "user:password:rehash"),
    },
    "kept in a form of their own, not as audit events": {"entity:token:issue"},
    "no longer written": {"user:link:use"},
}
"""Events that no act here writes, by the reason."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    data_dir: Path = tmp_path_factory.mktemp("faults") / "data"
    settings = Settings(data_dir=data_dir, sandbox=True, entity_token_rate=Rate(1000, 200))
    prepare(settings.data_dir)
    with (settings.data_dir / CLUSTER / "postgresql.auto.conf").open("a") as more:
        more.write(KEEPS_COMMITS)
    with (
        faults_may_happen(),
        open_store(settings, create=True) as opened,
        psycopg.connect(opened[0], autocommit=True) as store,
        in_process(settings, *opened, connections=4) as served,
    ):
        served.do(set_up(served.edge.dependencies))
        yield World(served, store, Drill(served, store))


@pytest.fixture(scope="module")
def drill(world: World) -> Drill:
    for chapter in CHAPTERS:
        chapter(world)
    return world.drill


def test_a_fault_at_any_statement_leaves_nothing_and_the_act_can_be_done_again(
    drill: Drill,
) -> None:
    problems = {name: act.problems for name, act in drill.acts.items() if act.problems}

    assert problems == {}
    assert sum(act.exchanges for act in drill.acts.values()) > LEAST


def test_every_operation_of_the_document_is_drilled(world: World, drill: Drill) -> None:
    document = world.served.client().get("/schema/openapi.json").json()
    operations = {
        f"{method.upper()} {path}"
        for path, each in document["paths"].items()
        for method in each.keys() - {"get"}
    }

    assert operations - drill.acts.keys() == NO_ACTS.keys()


def test_every_kind_of_audit_event_is_written_by_an_act(drill: Drill) -> None:
    seen = set().union(*(act.events for act in drill.acts.values()))

    assert {event.value for event in EventName} - seen == set().union(*NOT_SEEN.values())
