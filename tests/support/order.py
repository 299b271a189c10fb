"""The order of tests, and which files one process runs: what a service costs while no one asks it.

A service that is left running takes 1 to 2 % of a core. So files that need no service of the whole
run come first, and those that share another one run in one process, at the end of which it ends.
"""

from collections.abc import Generator, Iterable
from typing import Final
from zlib import crc32

import pytest

_WAIT_LONGEST: Final = (
    "tests/security/test_slow_clients.py",
    "tests/conformance/test_conformance_suite.py",
    "tests/faults/test_database_gone.py",
    "tests/faults/test_fail_over.py",
    "tests/security/test_link_floods.py",
    "tests/faults/test_cache_invalidation.py",
)
"""They wait for most of their time: while types and pages are looked at, cores are busy anyway."""

LONGEST: Final = (
    "tests/browser/test_every_page.py",
    *_WAIT_LONGEST,
    "tests/faults/test_every_statement.py",
    "tests/storage/metrics/blocks/test_sums.py",
    "tests/http/health/test_causes.py",
    "tests/faults/test_embedded_as_root.py",
    "tests/http/health/test_demo_agents.py",
    "tests/http/health/test_one_answer.py",
    "tests/http/health/test_feed_states.py",
    "tests/faults/test_embedded_server.py",
    "tests/conformance/test_openapi.py",
    "tests/faults/test_of_systemd.py",
    "tests/docs/test_guides.py",
    "tests/http/health/test_demo_traffic.py",
    "tests/faults/test_many_at_once.py",
    "tests/http/health/test_webhooks.py",
    "tests/security/test_people_matrix.py",
    "tests/faults/test_mail_outbox.py",
    "tests/http/health/test_alarm_mail.py",
    "tests/http/health/test_alarms.py",
    "tests/faults/test_backup_and_restore.py",
    "tests/http/test_one_connection_per_request.py",
    "tests/unit/deploy/test_proxies.py",
    "tests/http/token/test_secret_lifecycle.py",
)
"""Files of a quarter of a minute or more, or of a group that takes as long: they begin first."""

Fixture = tuple[str, str]
"""Its name, and the folder of the conftest.py that has it: other files may have one so named."""

OF_THE_RUN: Final[Fixture] = ("service", "tests")
"""Each process has one, from the first test that needs it to the end of the run."""
USERS: Final[dict[Fixture, str]] = {
    ("service_of_two", "tests"): "service_of_two",
    ("each_service", "tests/http"): "service_of_two",
    ("sandbox", "tests/docs"): "sandbox",
    ("strict", "tests/security"): "strict",
    ("named", "tests/security"): "named",
    ("served", "tests/security"): "served",
    ("kept", "tests/faults"): "kept",
    ("browser", "tests/browser"): "browser",
}
"""What is shared by some files, by the fixtures that show that a file uses it."""
_GROUP: Final = pytest.StashKey[str]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests, and put those together that one process runs."""
    turns = {name: turn for turn, name in enumerate(LONGEST)}
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(file_of(item), []).append(item)
    groups: dict[str, list[str]] = {}
    rests: dict[str, bool] = {}
    for file, tests in files.items():
        used = set().union(*map(_fixtures, tests))
        group = next((USERS[one] for one in USERS if one in used), file)
        groups.setdefault(group, []).append(file)
        rests[group] = OF_THE_RUN in used or rests.get(group, False)
    in_turn = sorted(
        groups,
        key=lambda group: (
            min(turns.get(file, len(turns)) for file in groups[group]),
            rests[group],
            # Mixed: files of one folder wait for time, or all keep a core busy, at the same moment.
            crc32(group.encode()),
        ),
    )
    items.clear()
    for group in in_turn:
        for file in groups[group]:
            for item in files[file]:
                item.stash[_GROUP] = group
                items.append(item)


def group_of(item: pytest.Item) -> str:
    """Return what the tests have in common that one process runs: what they share, or their file."""
    return item.stash.get(_GROUP, file_of(item))


def file_of(item: pytest.Item) -> str:
    """Return the file of a test."""
    return item.nodeid.partition("::")[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """End, behind the last test of a group, what its files shared."""
    try:
        return (yield)
    finally:
        if nextitem is not None and group_of(nextitem) != group_of(item):
            _end_what_is_shared(item)


def _end_what_is_shared(item: pytest.Item) -> None:
    assert isinstance(item, pytest.Function)
    known = item.session._fixturemanager
    for (name, place), group in USERS.items():
        if group == group_of(item):
            for fixture in known.getfixturedefs(name, item) or ():
                if fixture.baseid == place:
                    fixture.finish(item._request)


def _fixtures(item: pytest.Item) -> Iterable[Fixture]:
    assert isinstance(item, pytest.Function)
    found = item._fixtureinfo.name2fixturedefs
    return {(name, known[-1].baseid) for name, known in found.items()}
