"""Runs tests in several processes that are forked once all tests are collected.

    pytest --processes 4

With pytest-xdist each process collects every test, which takes twelve seconds of each here. These
share what one has collected. They take file after file from one queue, in the order of collection:
a file runs in one process, as files do that share a service (order.py), and what a session's
fixtures made is kept from one file to the next.
"""

import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final
from warnings import WarningMessage

import pytest
from tests.support.database import template_database
from tests.support.order import group_of

_NUMBER: Final = 2
"""Bytes of a place in the queue: what is read of a pipe at once goes to one reader."""
_ENDED: Final = "ended"

Group = Sequence[pytest.Item]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--processes", type=int, default=1, metavar="N", help="run the tests in N forked processes"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the collected tests, where several processes are asked for; else pytest does."""
    if session.config.option.processes < 2 or session.config.option.collectonly:
        return None
    if session.testsfailed:
        return None  # pytest says what could not be collected
    groups = [list(group) for _, group in itertools.groupby(session.items, group_of)]
    queue, places = os.pipe()
    os.write(places, b"".join(n.to_bytes(_NUMBER, "big") for n in range(len(groups))))
    os.close(places)
    shared = Path(tempfile.mkdtemp(prefix="mudra-tests-"))
    template_database.use(shared)
    children: dict[Connection, int] = {}
    for _ in range(session.config.option.processes):
        reports, channel = Pipe(duplex=False)
        pid = os.fork()
        if pid == 0:
            # Returns as any pytest does, so that what is to be done at its end is done.
            for other in (reports, *children):
                other.close()
            _run(session, lambda: _next(queue, groups), channel)
            return True
        channel.close()
        children[reports] = pid
    _report(session, children)
    left = len(os.read(queue, _NUMBER * len(groups))) // _NUMBER
    os.close(queue)
    shutil.rmtree(shared)
    if left:
        raise session.Failed(f"no process was left to run {left} of {len(groups)} files")
    return True


def _next(queue: int, groups: Sequence[Group]) -> Group:
    place = os.read(queue, _NUMBER)
    return groups[int.from_bytes(place, "big")] if place else ()


def _run(session: pytest.Session, take: Callable[[], Group], channel: Connection) -> None:
    """Run groups of tests until none is left, and report each test."""
    plugins = session.config.pluginmanager
    plugins.unregister(name="terminalreporter")
    plugins.register(_Reporter(session.config, channel))
    # Its files are those of the process that was forked: each needs files of its own.
    capture = plugins.get_plugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend()
    for item, following in itertools.pairwise(itertools.chain(_taken(take), [None])):
        assert item is not None
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            break
    channel.send((_ENDED, {}))


def _taken(take: Callable[[], Group]) -> Iterator[pytest.Item | None]:
    """Give the tests one by one; a group is taken when the last one of another is about to run."""
    while group := take():
        yield from group


class _Reporter:
    """Sends what happens to the process that shows it: the name of a hook, and its arguments."""

    def __init__(self, config: pytest.Config, channel: Connection) -> None:
        self._config = config
        self._send = channel.send

    def pytest_runtest_logstart(self, nodeid: str, location: object) -> None:
        self._send(("pytest_runtest_logstart", {"nodeid": nodeid, "location": location}))

    def pytest_runtest_logfinish(self, nodeid: str, location: object) -> None:
        self._send(("pytest_runtest_logfinish", {"nodeid": nodeid, "location": location}))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        shown = report.when == "call" or not report.passed or report.sections
        if not shown and self._config.option.durations is None:
            return
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._send(("pytest_runtest_logreport", {"report": data}))

    def pytest_warning_recorded(
        self, warning_message: WarningMessage, when: str, nodeid: str, location: object
    ) -> None:
        if when != "runtest":
            return  # the process that collected has shown it
        of = warning_message
        plain = WarningMessage(str(of.message), of.category, of.filename, of.lineno)
        said = {"warning_message": plain, "when": when, "nodeid": nodeid, "location": location}
        self._send(("pytest_warning_recorded", said))


def _report(session: pytest.Session, children: dict[Connection, int]) -> None:
    """Show what the processes report until all have ended; one that dies fails its test."""
    config = session.config
    shown = config.pluginmanager.get_plugin("terminalreporter")
    if shown is not None:
        shown.showfspath = False  # files run side by side
    nothing = ("(no test yet)", ("", None, ""))
    running: dict[Connection, tuple[str, Any]] = dict.fromkeys(children, nothing)
    while children:
        for channel in wait(list(children)):
            assert isinstance(channel, Connection)
            try:
                hook, said = channel.recv()
            except EOFError:
                _, status = os.waitpid(children.pop(channel), 0)
                if channel in running:
                    code = os.waitstatus_to_exitcode(status)
                    _died(session, *running.pop(channel), code)
                continue
            if hook == _ENDED:
                del running[channel]
                continue
            if hook == "pytest_runtest_logstart":
                running[channel] = (said["nodeid"], said["location"])
            if hook == "pytest_runtest_logreport":
                said["report"] = config.hook.pytest_report_from_serializable(
                    config=config, data=said["report"]
                )
            if hook == "pytest_warning_recorded":
                config.hook.pytest_warning_recorded.call_historic(kwargs=said)
            else:
                getattr(config.hook, hook)(**said)


def _died(session: pytest.Session, nodeid: str, location: Any, code: int) -> None:
    report = pytest.TestReport(
        nodeid=nodeid,
        location=location,
        keywords={},
        outcome="failed",
        longrepr=f"the process that ran this test ended with exit code {code}",
        when="call",
    )
    session.config.hook.pytest_runtest_logreport(report=report)
