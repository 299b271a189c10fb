"""Fixtures that many tests share: real services, one for each pytest process."""

import gc
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import settings
from hypothesis import strategies as st
from tests.support import cheap_keys, patient_http, shared_tls
from tests.support.database.template_database import share
from tests.support.depth import DAY, USUAL, examples
from tests.support.forked_run import pytest_addoption, pytest_runtestloop
from tests.support.members import Member, new_member
from tests.support.order import pytest_collection_modifyitems, pytest_runtest_teardown
from tests.support.preloaded_program import compile_templates, share_program
from tests.support.process import running_service
from tests.support.rare_collection import collect_rarely
from tests.support.service import Service

__all__ = [
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_runtest_teardown",
    "pytest_runtestloop",
]

# A machine that runs other things as well is slow: no example fails for its time. No example of an
# earlier run is kept: a test that is red prints how to see that example again.
settings.register_profile(
    "of_this_run",
    max_examples=examples(USUAL),
    deadline=None,
    database=None,
    print_blob=True,
)
settings.load_profile("of_this_run")
# A failure that is logged is shown as Python does: with the values of all frames, as structlog
# shows it where nothing is configured, each takes a second of CPU.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)
cheap_keys.install_here()
shared_tls.install()
patient_http.install()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among thousands of collected tests, of which none is: twice 2 s a run."""
    gc.disable()
    try:
        return (yield)
    finally:
        collect_rarely()
        gc.enable()


def pytest_report_header() -> str:
    """Show which part of long tables runs."""
    return f"TEST_DAY={DAY}"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Load the program once for all processes of the run, and compile its templates."""
    option = session.config.option
    if option.processes > 1 and not option.collectonly:
        share_program()
        compile_templates()
        st.characters(codec="utf-8").validate()  # looks at all of Unicode, once for all processes


@pytest.fixture(scope="session", autouse=True)
def shared_database(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Databases are made once for all processes of this run, and copied."""
    share(tmp_path_factory)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A sandbox service with one worker. Tests must leave others' members alone."""
    with running_service(tmp_path_factory.mktemp("one") / "data", keeps_store=True) as running:
        yield running


@pytest.fixture(scope="session")
def service_of_two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A sandbox service with two workers."""
    data_dir = tmp_path_factory.mktemp("two") / "data"
    with running_service(data_dir, "--workers", "2", keeps_store=True) as running:
        yield running


@pytest.fixture
def member(service: Service) -> Member:
    """A member of its own for a test."""
    return new_member(service)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A fresh data directory."""
    return tmp_path / "data"
