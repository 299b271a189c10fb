"""Every `mudra` command in a document is one that this release has, with options that it takes.

Blocks are run as well (test_tutorials.py, test_guides.py), and so are examples and commands in texts
(test_examples.py); of those that no test can run, this reads options and names as the command line does.
"""

import ast
import importlib
import json
import re

from tests.docs.command_words import FILES, lines_of, parse, words_of, written
from tests.support.documents.blocks import blocks_of, text_of

COMMANDS = sorted(
    {
        (file, " ".join(words))
        for file in FILES
        for line in written(file)
        if (words := words_of(line))
    }
)


SECRET_ARGUMENT = re.compile(
    r"\$\{?MUDRA_(?:\w*(?:DATABASE|SMTP)\w*_URL|PASSWORD|MASTER_KEY)\b"
    r"|(?<![A-Z_]=)\bpostgresql://\w+:[^@\s]+@"
)


def test_every_command_of_a_document_is_there_with_its_options() -> None:
    wrong = [
        f"{file}: mudra {words}: {problem}"
        for file, words in COMMANDS
        if (problem := parse(words.split()))
    ]

    assert wrong == [], "\n".join(wrong)
    assert len(COMMANDS) > 150


def test_no_command_of_a_document_has_a_secret_among_its_arguments() -> None:
    """Every user of the machine can read them, and sudo writes them into a log."""
    wrong = [
        (file, line)
        for file in FILES
        for block in blocks_of(file)
        if block.kind == "sh"
        for line in lines_of(block.body)
        if SECRET_ARGUMENT.search(line)
    ]
    by_sudo = [file for file in FILES if re.search(r"sudo MUDRA_\w+=", text_of(file))]

    assert (wrong, by_sudo) == ([], [])
    assert SECRET_ARGUMENT.search('pg_dump -Fc -f mudra.dump "$MUDRA_DATABASE_OWNER_URL"')
    assert SECRET_ARGUMENT.search("psql postgresql://mudra_owner:secret@db.example/mudra")
    assert not SECRET_ARGUMENT.search("MUDRA_DATABASE_URL=postgresql://u:p@db/mudra mudra serve")


def test_every_sample_in_python_compiles_and_imports_what_there_is() -> None:
    samples = [
        (file, block.body) for file in FILES for block in blocks_of(file) if block.kind == "python"
    ]

    for file, body in samples:
        for node in ast.walk(ast.parse(body, file)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mudra"):
                module = importlib.import_module(node.module or "")
                assert [one.name for one in node.names if not hasattr(module, one.name)] == [], file
    assert len(samples) > 8


def test_every_sample_in_json_can_be_read() -> None:
    for file in FILES:
        for block in blocks_of(file):
            if block.kind == "json":
                json.loads(block.body.replace("…", "x"))


def test_what_is_not_there_is_named() -> None:
    assert parse(["secret", "rest", "KAVERI-FIP"]) == "mudra secret has no command rest"
    assert parse(["secret", "reset", "KAVERI-FIP", "--keep", "7"]).endswith("has no option --keep")
    assert words_of("MUDRA_PORT=1 mudra serve --sandbox > log") == ["serve", "--sandbox"]
    assert words_of("useradd --home-dir /var/lib/mudra mudra") is None
