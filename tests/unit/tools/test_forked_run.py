"""The runner of this suite: what it does not report is never seen red."""

import subprocess
from pathlib import Path

import pytest
from tests.unit.tools.own_pytest import run_pytest

CONFTEST = """
import os
from pathlib import Path
import pytest
from tests.support.forked_run import pytest_addoption, pytest_runtestloop

@pytest.fixture(scope="session")
def process(tmp_path_factory):
    yield os.getpid()
    with (Path(__file__).parent / "left.txt").open("a") as left:
        left.write(f"{os.getpid()}\\n")
"""
FILES = {
    "conftest.py": CONFTEST,
    "test_dies.py": "import os\ndef test_that_dies(): os._exit(7)\ndef test_behind_it(): pass\n",
    "test_mixed.py": (
        "import warnings\n"
        "def test_that_passes(process, tmp_path): warnings.warn('mind the gap')\n"
        "def test_that_fails(process): print('what it printed'); assert process == 0\n"
    ),
    "test_more.py": "def test_more(process): pass\n",
}


@pytest.fixture(scope="module")
def run(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple["subprocess.CompletedProcess[str]", Path]:
    """A run in three processes, of which one dies."""
    folder = tmp_path_factory.mktemp("suite")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return run_pytest(folder, "--processes", "3", "-ra"), folder


def test_failures_and_warnings_are_reported(
    run: tuple["subprocess.CompletedProcess[str]", Path],
) -> None:
    done, _ = run

    assert done.returncode == 1
    assert "what it printed" in done.stdout
    assert "mind the gap" in done.stdout
    assert "2 failed, 2 passed, 1 warning" in done.stdout


def test_a_test_whose_process_dies_is_red(
    run: tuple["subprocess.CompletedProcess[str]", Path],
) -> None:
    done, _ = run

    assert "FAILED test_dies.py::test_that_dies - the process that ran this" in done.stdout


def test_what_a_session_made_is_taken_down_in_each_process(
    run: tuple["subprocess.CompletedProcess[str]", Path],
) -> None:
    _, folder = run

    left = (folder / "left.txt").read_text().split()
    assert left
    assert len(left) == len(set(left))
