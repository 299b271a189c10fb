"""Every `mudra` command in a document is one that this release has, with options that it takes.

Tutorials and some guides are run word by word (test_tutorials.py); the others name machines, people
and networks that no test has, so their commands are read as the command line reads them.
"""

import ast
import importlib
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import typer.main
from typer._click import Command
from typer.core import TyperGroup

from mudra.bootstrap.command_line import app

ROOT = Path(__file__).parents[2]
GENERATED = {"commands.md"}
FILES = [
    *(file for file in sorted((ROOT / "docs").rglob("*.md")) if file.name not in GENERATED),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "deploy").rglob("*.service")),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^(?: {4,}|\t).*\n)+", re.MULTILINE)
SHELL = {"", "sh", "console"}
COMMAND = re.compile(
    r"(?:^|[(|;&]|ExecStart=)\s*(?:[A-Z_]+=\S+ +|sudo -u \S+ +)*(?:\S*/)?mudra (?P<words>[a-z].*)"
)
ENDS = {"|", "||", "&&", ";", "<", "<<<", ">", ">>", "&", "2>&1"}


def written(text: str) -> Iterator[str]:
    """The lines of shell in a document, those that go on joined."""
    blocks = [body for kind, body in BLOCK.findall(text) if kind in SHELL]
    rest = BLOCK.sub("", text)
    blocks += INDENTED.findall(rest)
    blocks += re.findall(r"^(?:ExecStart|ExecStartPre)=.*$", rest, re.MULTILINE)
    for block in blocks:
        yield from re.sub(r"\\\n\s*", " ", block).splitlines()
    for code in re.findall(r"`(mudra [^`\n]+)`", rest):
        yield re.sub(r"[…]+", "", code)


def words_of(line: str) -> list[str] | None:
    """The words of a `mudra` command, up to where the shell's own begin; None without one."""
    found = COMMAND.search(line.partition(" #")[0])
    if found is None or line.lstrip().startswith("#"):
        return None
    try:
        words = shlex.split(re.sub(r"\$\([^)]*\)", "X", found["words"]))
    except ValueError:  # the quotation goes on in the next line
        words = found["words"].split()
    for place, word in enumerate(words):
        if word in ENDS or word.startswith(("<", ">", "2>")) or word.endswith((";", ")")):
            kept = words[:place]
            if word.endswith((";", ")")) and word not in ENDS:
                kept.append(word.rstrip(";)"))
            return kept
    return words


def parse(words: list[str]) -> str:
    """Why the command line would not take these words; empty when it would."""
    command: Command = typer.main.get_command(app)
    named = ["mudra"]
    if any("|" in word for word in words):  # `lint|submit FILE` names several
        place = next(at for at, word in enumerate(words) if "|" in word)
        several = (
            parse([*words[:place], one, *words[place + 1 :]]) for one in words[place].split("|")
        )
        return "; ".join(filter(None, several))
    while isinstance(command, TyperGroup) and words and words[0] in command.commands:
        command = command.commands[words[0]]
        named.append(words[0])
        words = words[1:]
    if isinstance(command, TyperGroup):
        return f"{' '.join(named)} has no command {words[0]}" if words else ""
    known = {option for parameter in command.params for option in parameter.opts}
    known |= {option for parameter in command.params for option in parameter.secondary_opts}
    for word in words:
        if word.startswith("--") and word.partition("=")[0] not in known | {"--help"}:
            return f"{' '.join(named)} has no option {word.partition('=')[0]}"
    return ""


COMMANDS = sorted(
    {
        (str(file.relative_to(ROOT)), " ".join(words))
        for file in FILES
        for line in written(file.read_text(encoding="utf-8"))
        if (words := words_of(line))
    }
)


def test_every_command_of_a_document_is_there_with_its_options() -> None:
    wrong = [
        f"{file}: mudra {words}: {problem}"
        for file, words in COMMANDS
        if (problem := parse(words.split()))
    ]

    assert wrong == [], "\n".join(wrong)
    assert len(COMMANDS) > 150


def test_every_sample_in_python_compiles_and_imports_what_there_is() -> None:
    samples = [
        (file.name, body)
        for file in FILES
        for kind, body in BLOCK.findall(file.read_text(encoding="utf-8"))
        if kind == "python"
    ]

    for file, body in samples:
        for node in ast.walk(ast.parse(body, file)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mudra"):
                module = importlib.import_module(node.module or "")
                assert [one.name for one in node.names if not hasattr(module, one.name)] == [], file
    assert len(samples) > 8


def test_every_sample_in_json_can_be_read() -> None:
    for file in FILES:
        for kind, body in BLOCK.findall(file.read_text(encoding="utf-8")):
            if kind == "json":
                json.loads(body.replace("…", "x"))


def test_what_is_not_there_is_named() -> None:
    assert parse(["secret", "rest", "KAVERI-FIP"]) == "mudra secret has no command rest"
    assert parse(["secret", "reset", "KAVERI-FIP", "--keep", "7"]).endswith("has no option --keep")
    assert words_of("MUDRA_PORT=1 mudra serve --sandbox > log") == ["serve", "--sandbox"]
    assert words_of("useradd --home-dir /var/lib/mudra mudra") is None
