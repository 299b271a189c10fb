import subprocess
from pathlib import Path

import pytest
from tools.lint.__main__ import main
from tools.lint.clock_rule import no_clock_outside_its_file
from tools.lint.commit_rule import no_commit_outside_database
from tools.lint.docstring_rule import package_says_never
from tools.lint.name_rule import no_drawer
from tools.lint.place_rule import no_foreign_place
from tools.lint.secret_rule import no_secret_in_a_sentence
from tools.lint.source import Source
from tools.lint.sql_rule import no_built_sql
from tools.lint.swallow_rule import no_swallowed_exception

ROOM = "src/mudra/tokens/authentication/secret_check.py"


def faults(rule, text, path=ROOM):
    return [str(fault) for fault in rule(Source(path, text))]


@pytest.mark.parametrize(
    "text",
    [
        "now = datetime.now(UTC)",
        "now = datetime.datetime.now(UTC)",
        "now = datetime.utcnow()",
        "day = date.today()",
        "now = time.time()",
        "now = time.time_ns()",
        "clock = time.time",
        "from time import time",
    ],
)
def test_a_room_does_not_ask_the_machine_for_the_time(text):
    assert len(faults(no_clock_outside_its_file, text)) == 1


@pytest.mark.parametrize(
    "path",
    ["src/mudra/bootstrap/clock.py", "src/mudra/agent/clock.py", "src/mudra/client/clock.py"],
)
def test_a_clock_file_may_ask(path):
    assert not faults(no_clock_outside_its_file, "now = datetime.now(UTC)", path)


@pytest.mark.parametrize("text", ["t = time.monotonic()", "t = datetime.fromtimestamp(0, UTC)"])
def test_durations_and_conversions_are_free(text):
    assert not faults(no_clock_outside_its_file, text)


@pytest.mark.parametrize("text", ["await session.commit()", "connection.rollback()"])
def test_only_the_database_file_ends_a_transaction(text):
    text = f"async def f():\n    {text}"

    assert len(faults(no_commit_outside_database, text)) == 1
    assert not faults(no_commit_outside_database, text, "src/mudra/storage/database/database.py")
    assert not faults(no_commit_outside_database, text, "src/mudra/agent/spool/spool.py")


@pytest.mark.parametrize(
    "text",
    [
        "x = f'the secret is {secret.reveal()}'",
        "x = f'{secret.reveal()!r:>5}'",
        "x = 'the secret is %s' % secret.reveal()",
        "x = '{}'.format(secret.reveal())",
        "log.info('reset', secret=secret.reveal())",
        "print(secret.reveal())",
    ],
)
def test_a_secret_is_not_woven_into_a_sentence(text):
    assert faults(no_secret_in_a_sentence, text)


def test_a_secret_may_be_hashed_and_sealed():
    assert not faults(no_secret_in_a_sentence, "x = seal(secret.reveal().encode())")
    assert not faults(no_secret_in_a_sentence, "x = SecretText(f'{page}/{token.reveal()}')")


@pytest.mark.parametrize(
    "text",
    [
        "from sqlalchemy import text\ntext(f'SELECT {name}')",
        "c.execute('SELECT %s' % name)",
        "c.execute('SELECT {}'.format(name))",
        "c.execute('SELECT ' + name)",
        "c.execute(prefix + ' WHERE ' + name)",
        "sa.text(f'SELECT {name}')",
        "sql.SQL(f'SELECT {name}')",
        "query = f'SELECT {name}'\nc.execute(query)",
    ],
)
def test_sql_is_not_built_from_pieces(text):
    assert len(faults(no_built_sql, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "c.execute('SELECT %s', (name,))",
        "text('SELECT :name')",
        "c.execute(select(table))",
        "c.execute(sql.SQL('LISTEN {}').format(sql.Identifier(name)))",
        "c.execute(f'SELECT 1')",
        "c.execute(f'LISTEN {CHANNEL}')",
        "c.execute(f'LISTEN {_CHANNEL}')",
        "read.text(f'{path}.name')",
        "text(f'{path}.name')",
    ],
)
def test_bound_parameters_and_quoted_names_are_free(text):
    assert not faults(no_built_sql, text)


@pytest.mark.parametrize(
    "path", ["src/mudra/utils.py", "src/mudra/http/token_helpers.py", "src/mudra/common/x.py"]
)
def test_a_drawer_is_refused(path):
    assert faults(no_drawer, "", path)


@pytest.mark.parametrize(
    "path",
    [
        "src/mudra/identity/common_passwords.py",
        "src/mudra/http/database.py",
        "README.md",
        "src/mudra/basement.py",
    ],
)
def test_a_noun_of_the_business_is_not_a_drawer(path):
    assert not faults(no_drawer, "", path)


def test_a_package_says_what_it_never_does():
    path = "src/mudra/tokens/__init__.py"

    assert "needs a docstring" in faults(package_says_never, "", path)[0]
    assert "must say" in faults(package_says_never, '"""Tokens."""', path)[0]
    assert not faults(package_says_never, '"""Tokens. Never sends mail."""', path)


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    f()\nexcept Exception:\n    pass",
        "try:\n    f()\nexcept:\n    ...",
        "try:\n    f()\nexcept (ValueError, BaseException):\n    pass",
        "with contextlib.suppress(Exception):\n    f()",
    ],
)
def test_a_swallowed_exception_is_refused(text):
    assert len(faults(no_swallowed_exception, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    f()\nexcept Exception:\n    log.exception('f')",
        "try:\n    f()\nexcept KeyError:\n    pass",
        "with suppress(KeyError):\n    f()",
    ],
)
def test_a_named_or_logged_exception_is_free(text):
    assert not faults(no_swallowed_exception, text)


@pytest.mark.parametrize("folder", ["root", "home", "Users", "work", "workspace"])
def test_a_path_of_somebodys_machine_is_refused(folder):
    rule = no_foreign_place(Path("/"), Path("/"))

    assert faults(rule, f"see /{folder}/anna/mudra", "README.md") == [
        "README.md:1: an absolute path of somebody's machine"
    ]


def test_the_checkouts_own_place_is_refused_wherever_it_is():
    rule = no_foreign_place(Path("/srv/build/mudra"), Path("/"))

    assert faults(rule, "DATA=/srv/build/mudra/var", "Makefile")


@pytest.mark.parametrize(
    "text", ["https://example.org/home/x", "./home/x", "~/work/x", "/var/lib/mudra", "src/home/x"]
)
def test_addresses_and_relative_paths_are_free(text):
    assert not faults(no_foreign_place(Path("/"), Path("/")), text)


def test_the_command_names_each_fault_and_fails(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    room = tmp_path / "src" / "mudra"
    room.mkdir(parents=True)
    (room / "issue.py").write_text("now = time.time()\n")

    assert main(tmp_path) == 1

    (room / "issue.py").write_text("now = clock()\n")
    assert main(tmp_path) == 0
