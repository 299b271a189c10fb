"""The order of this suite: what files share ends with the last of them, and no test is left out."""

from pathlib import Path

from tests.unit.tools.own_pytest import run_pytest

NOTE = (
    "from pathlib import Path\ndef note(text):\n    Path('notes.txt').open('a').write(text + ' ')\n"
)
HOOKS = (
    "from tests.support.order import pytest_collection_modifyitems, pytest_runtest_teardown\n"
    "import pytest\n"
    "@pytest.fixture(scope='session')\n"
    "def service(): yield\n"
)
SHARED = (
    f"import pytest\n{NOTE}"
    "@pytest.fixture(scope='session')\n"
    "def sandbox(): note('begins'); yield; note('ends')\n"
)
FILES = {
    "conftest.py": HOOKS,
    "docs/conftest.py": SHARED,
    "docs/test_a.py": f"{NOTE}def test_a(sandbox): note('a')\n",
    "docs/test_b.py": f"{NOTE}def test_b(service): note('b')\n",
    "docs/test_c.py": f"{NOTE}def test_without(): note('-')\ndef test_c(sandbox): note('c')\n",
    "docs/test_d.py": f"{NOTE}def test_d(): note('d')\n",
    "faults/test_every_statement.py": f"{NOTE}def test_long(): note('long')\n",
}


def test_long_files_come_first_those_that_share_together_and_those_with_a_service_last(
    tmp_path: Path,
) -> None:
    for name, text in FILES.items():
        file = tmp_path / "tests" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    done = run_pytest(tmp_path)

    assert done.returncode == 0, done.stdout
    assert (tmp_path / "notes.txt").read_text() == "long d begins a - c ends b "
