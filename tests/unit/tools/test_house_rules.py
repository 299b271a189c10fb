import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools.lint import language_rule
from tools.lint.__main__ import main
from tools.lint.commit_rule import no_commit_outside_database
from tools.lint.docstring_rule import docstring_begins_with_a_verb, package_says_never
from tools.lint.figure_rule import figures_of_tests
from tools.lint.grammar_rule import KNOWN, problem, shrink, wrong_grammar
from tools.lint.migration_rule import FOLDER, clashing_migrations
from tools.lint.name_rule import no_drawer
from tools.lint.place_rule import no_foreign_place
from tools.lint.secret_rule import no_secret_in_a_sentence
from tools.lint.source import Source
from tools.lint.store_rule import stores_apart_from_rules
from tools.lint.subject_rule import problems
from tools.lint.suppress_rule import no_broad_suppress, no_silence_without_reason

AREA_FILE = "src/mudra/tokens/authentication/secret_check.py"


def faults(rule, text, path=AREA_FILE):
    return [str(fault) for fault in rule(Source(path, text))]


def ruff(text, path):
    """What ruff finds, with this project's settings, in a file of this text and path."""
    found = subprocess.run(
        ["ruff", "check", "--output-format=json", f"--stdin-filename={path}", "-"],
        input=text,
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    ).stdout
    return {fault["code"] for fault in json.loads(found)}


@pytest.mark.parametrize(
    "text",
    [
        "from datetime import datetime, UTC\nnow = datetime.now(UTC)",
        "import datetime\nnow = datetime.datetime.now()",
        "from datetime import datetime\nnow = datetime.utcnow()",
        "from datetime import date\nday = date.today()",
        "import time\nnow = time.time()",
        "import time\nclock = time.time",
        "from time import time_ns",
    ],
)
def test_only_a_clock_file_asks_the_machine_for_the_time(text):
    assert "TID251" in ruff(text, AREA_FILE)
    assert "TID251" not in ruff(text, "src/mudra/agent/clock.py")


@pytest.mark.parametrize("text", ["import time\nt = time.monotonic()"])
def test_durations_are_free(text):
    assert "TID251" not in ruff(text, AREA_FILE)


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
        "c.execute(f'SELECT a FROM {name}')",
        "c.execute('DELETE FROM %s' % name)",
        "c.execute('SELECT a FROM {}'.format(name))",
        "c.execute('INSERT INTO ' + name + ' VALUES (1)')",
        "query = f'UPDATE {name} SET a = 1'\nc.execute(query)",
    ],
)
def test_sql_is_not_built_from_pieces(text):
    assert "S608" in ruff(text, AREA_FILE)


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


def migrations(*texts):
    """What the rule says of migrations, each a name, its revision and its predecessor."""
    found = [
        Source(f"{FOLDER}/{name}.py", f'revision = "{own}"\ndown_revision = "{before}"\n')
        for name, own, before in texts
    ]
    return [str(fault) for fault in clashing_migrations(found)]


def test_two_migrations_of_one_number_are_refused():
    first, second = ("0002_roles", "0002", "0001"), ("0002_tokens", "0002", "0001")

    assert not migrations(first, ("0003_tokens", "0003", "0002"))
    assert any("0002_roles.py has the number 0002" in said for said in migrations(first, second))


@pytest.mark.parametrize(
    "clash", [("0003_tokens", "0002", "0003"), ("0003_tokens", "0003", "0001")]
)
def test_two_migrations_of_one_revision_or_predecessor_are_refused(clash):
    assert migrations(("0002_roles", "0002", "0001"), clash)


def apart(**texts):
    found = [Source(f"src/mudra/tokens/secrets/{name}.py", text) for name, text in texts.items()]
    return [str(fault) for fault in stores_apart_from_rules(found)]


def test_only_a_store_has_sql():
    for text in (
        "import sqlalchemy as sa",
        "from psycopg import Error",
        "from mudra.storage.tables.tokens import entity_secret",
        "from mudra.storage.tables import tokens",
    ):
        assert not apart(secret_store=text)
        assert "only a file that is named …_store.py has SQL" in apart(secret=text)[0]


def test_a_file_of_rules_knows_no_store():
    store = "from mudra.tokens.secrets.secret import EntitySecret"
    makes_one = "from mudra.tokens.secrets.secret_store import Secrets"
    takes_one = "from mudra.storage.database.transaction import Transaction"

    assert not apart(secret_store=store, secret="", secret_service=makes_one + "\n" + takes_one)
    for text in (makes_one, takes_one):
        assert "a file of rules imports no store" in apart(secret_store=store, secret=text)[0]
        assert "a file of rules imports no store" in apart(secret_store="", reset_rule=text)[0]


def test_a_package_says_what_it_never_does():
    path = "src/mudra/tokens/__init__.py"

    assert "needs a docstring" in faults(package_says_never, "", path)[0]
    assert "must say" in faults(package_says_never, '"""Tokens."""', path)[0]
    assert not faults(package_says_never, '"""Tokens. Never sends mail."""', path)


def test_the_docstring_of_a_function_begins_with_a_verb():
    question = 'def life():\n    """How long it lasts."""'

    assert "begin with a verb" in faults(docstring_begins_with_a_verb, question)[0]
    assert not faults(docstring_begins_with_a_verb, question.replace("How", "Return how"))


@pytest.mark.parametrize(
    "text",
    ["try:\n    f()\nexcept Exception:\n    pass", "try:\n    f()\nexcept Exception:\n    x = 1"],
)
def test_a_swallowed_exception_is_refused(text):
    assert ruff(text, AREA_FILE) & {"BLE001", "S110"}


def test_a_broad_suppress_is_refused_and_a_named_one_is_free():
    assert faults(no_broad_suppress, "with contextlib.suppress(Exception):\n    f()")
    assert not faults(no_broad_suppress, "with suppress(KeyError):\n    f()")


@pytest.mark.parametrize(
    ("comment", "count"),
    [
        ("noqa: S105", 1),
        ("noqa: ASYNC221, S602", 1),
        ("type: ignore[arg-type]", 1),
        ("type: ignore[index,union-attr]  #", 1),
        ("noqa: S105  # the name of an event", 0),
        ("noqa: S603 - our own program, no shell", 0),
        ("type: ignore[arg-type]  # the rest, as parsed", 0),
    ],
)
def test_a_silenced_tool_has_its_reason_on_the_line(comment, count):
    assert len(faults(no_silence_without_reason, f"at = 1  # {comment}\n")) == count


@pytest.mark.parametrize(
    ("subject", "count"),
    [
        ("Return the reset limit with every refusal", 0),
        ("return the reset limit", 1),
        ("Return the reset limit.", 1),
        ("Return " + "x" * 66, 1),
    ],
)
def test_a_subject_is_short_capitalized_and_without_a_period(subject, count):
    assert len(list(problems(subject))) == count


@pytest.mark.parametrize(
    "text", ["def send_letter(): ...", "# so nobody is told", "class MailDesk: ..."]
)
def test_private_words_are_refused(text):
    assert faults(language_rule.only_plain_words, text)


@pytest.mark.parametrize(
    "text", ["a dead letter", "letters, digits and hyphens", "mail:letter:send"]
)
def test_the_fields_own_words_are_free(text):
    assert not faults(language_rule.only_plain_words, text)


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
    area = tmp_path / "src" / "mudra"
    area.mkdir(parents=True)
    (area / "issue.py").write_text("connection.commit()\n")

    assert main(tmp_path) == 1

    (area / "issue.py").write_text("now = clock()\n")
    assert main(tmp_path) == 0


@pytest.mark.parametrize(
    "sentence",
    [
        "What has begun by now is judged.",
        "Of one webhook so many that a limit is on their way to it.",
        "Who asks the same meanwhile waits for it.",
        "Those that wait.",
        "Where operators search.",
        "So long every fence takes its full time.",
        "How long a delivery waits.",
        "Returns the limit of all, from that of one payload.",
        "One of the two.",
        "Ends one of them.",
    ],
)
def test_a_first_sentence_needs_a_noun(sentence):
    assert problem(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Returns the limits of all payloads.",
        "A webhook and its secret.",
        "When a key is dropped, tokens that it signed end.",
        "One row for each AA.",
        "Returns whether the caller is one of these operators.",
    ],
)
def test_a_sentence_with_a_noun_passes(sentence):
    assert not problem(sentence)


def test_only_known_sentences_may_have_wrong_grammar(tmp_path):
    old, new = "What a thing is.", "Who does it."
    source = Source(AREA_FILE, f'"""{old} More."""\n\ndef act():\n    """{new}"""\n')

    (fault,) = wrong_grammar([source], frozenset({old}))
    assert str(fault).startswith(f"{AREA_FILE}:3: {new!r}: begin with a noun")
    (gone,) = wrong_grammar([source], frozenset({old, new, "Whose it was."}))
    assert "1 sentences are no longer in the code" in str(gone)

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for path, text in ((AREA_FILE, source.text), (str(KNOWN), f"{old}\nWhose it was.\n")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert shrink(tmp_path) == 1
    assert (tmp_path / KNOWN).read_text() == f"{old}\n"


def test_a_test_writes_the_figure_that_it_proves():
    rule = Source(
        "src/mudra/tokens/reset.py",
        "from typing import Final\nMAX: Final = 5\nWINDOW = timedelta(minutes=10)\nNAME = 'a'\n",
    )
    text = "from mudra.tokens.reset import MAX, NAME, WINDOW\n"

    assert [str(one) for one in figures_of_tests([rule, Source("tests/unit/a.py", text)])] == [
        "tests/unit/a.py:1: MAX is a figure: write it out, so that the test fails when it changes"
    ]
    assert not list(figures_of_tests([rule, Source("tests/support/a.py", text)]))


@pytest.mark.parametrize(
    "text",
    ['patch.setattr(reset, "_MAX", 3)', 'monkeypatch.setattr("mudra.tokens.reset._MAX", 3)'],
)
def test_a_test_patches_no_private_constant(text):
    (fault,) = figures_of_tests([Source("tests/unit/a.py", text)])
    assert "_MAX is private: give its value as an argument" in str(fault)
