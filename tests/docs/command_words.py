"""The `mudra` commands of documents: their words, and which others they are like."""

import functools
import re
import shlex
from collections.abc import Iterator
from typing import Final, NamedTuple

import typer.main
from tests.support.documents.blocks import DOCUMENTS, ROOT, blocks_of, text_of, without_blocks
from typer._click import Command
from typer._click.exceptions import UsageError
from typer.core import TyperGroup

from mudra.bootstrap.command_line import app

REFERENCE: Final = "docs/reference/commands.md"
FILES: Final = (
    *(name for name in DOCUMENTS if name != REFERENCE),
    *(file.relative_to(ROOT).as_posix() for file in sorted((ROOT / "deploy").rglob("*.service"))),
)
_COMMAND: Final = re.compile(
    r"(?:^|[(|;&]|ExecStart=)\s*(?:[A-Z_]+=\S+ +|sudo -u \S+ +)*(?:\S*/)?mudra (?P<words>[a-z].*)"
)
_ENDS: Final = {"|", "||", "&&", ";", "<", "<<<", ">", ">>", "&", "2>&1"}
_OF_OUTPUT: Final = {"--json", "--html", "--junit", "--csv"}


class Like(NamedTuple):
    """A command, and the options that decide what it does: not in which form it prints."""

    command: str
    options: frozenset[str]


def written(document: str) -> Iterator[str]:
    """The lines of shell in a document, those that go on joined."""
    blocks = [block.body for block in blocks_of(document) if block.kind == "sh"]
    rest = without_blocks(document)
    blocks += re.findall(r"^(?:ExecStart|ExecStartPre)=.*$", rest, re.MULTILINE)
    for block in blocks:
        yield from lines_of(block)
    for code in re.findall(r"`(mudra [^`\n]+)`", rest):
        yield re.sub(r"[…]+", "", code)


def lines_of(body: str) -> list[str]:
    """The lines of a block, those that go on joined."""
    return re.sub(r"\\\n\s*", " ", body).splitlines()


def words_of(line: str) -> list[str] | None:
    """The words of a `mudra` command, up to where the shell's own begin; None without one."""
    found = _COMMAND.search(line.partition(" #")[0])
    if found is None or line.lstrip().startswith("#"):
        return None
    try:
        words = shlex.split(re.sub(r"\$\([^)]*\)", "X", found["words"]))
    except ValueError:  # the quotation goes on in the next line
        words = found["words"].split()
    for place, word in enumerate(words):
        if word in _ENDS or word.startswith(("<", ">", "2>")) or word.endswith((";", ")")):
            kept = words[:place]
            if word.endswith((";", ")")) and word not in _ENDS:
                kept.append(word.rstrip(";)"))
            return kept
    return words


def parse(words: list[str]) -> str:
    """Why the command line would not take these words; empty when it would."""
    if any("|" in word for word in words):  # `lint|submit FILE` names several
        place = next(at for at, word in enumerate(words) if "|" in word)
        several = (
            parse([*words[:place], one, *words[place + 1 :]]) for one in words[place].split("|")
        )
        return "; ".join(filter(None, several))
    named, command, rest = _command_of(words)
    if isinstance(command, TyperGroup):
        return f"mudra {named}".strip() + f" has no command {rest[0]}" if rest else ""
    known = {option for parameter in command.params for option in parameter.opts}
    known |= {option for parameter in command.params for option in parameter.secondary_opts}
    for word in rest:
        if word.startswith("--") and word.partition("=")[0] not in known | {"--help"}:
            return f"mudra {named} has no option {word.partition('=')[0]}"
    return ""


def is_group(words: list[str]) -> bool:
    """Whether these words name a group of commands and none of it: run, they print its help."""
    _, command, rest = _command_of(words)
    return isinstance(command, TyperGroup) and not rest


def is_whole(words: list[str]) -> bool:
    """Whether a command could be called so; a text often names no more than the command."""
    _, command, rest = _command_of(words)
    if isinstance(command, TyperGroup):
        return False
    try:
        command.make_context("mudra", list(rest))
    except UsageError:
        return False
    return True


def like(words: list[str]) -> Like:
    """The command with its options, whatever they are given."""
    named, _, rest = _command_of(words)
    options = {word.partition("=")[0] for word in rest if word.startswith("--")}
    return Like(named, frozenset(options - _OF_OUTPUT))


def examples() -> Iterator[str]:
    """The examples in the help of the commands, as their reference has them."""
    for line in re.findall(r"^Example: (.*)", text_of(REFERENCE), re.MULTILINE):
        for one in line.replace("`", "").split(" · "):
            yield one.partition(";")[0]


def in_texts() -> Iterator[str]:
    """Whole commands in the texts of documents; decisions are of their time."""
    for document in FILES:
        if document.startswith("docs/") and "/decisions/" not in document:
            for code in re.findall(r"`((?:[A-Z_]+=\S+ )?mudra [^`]+)`", without_blocks(document)):
                line = " ".join(code.split())
                words = words_of(line)
                if words and not any("|" in word for word in words) and is_whole(words):
                    yield line


@functools.cache
def _root() -> Command:
    return typer.main.get_command(app)


def _command_of(words: list[str]) -> tuple[str, Command, list[str]]:
    command, named = _root(), []
    while isinstance(command, TyperGroup) and words and words[0] in command.commands:
        command = command.commands[words[0]]
        named.append(words[0])
        words = words[1:]
    return " ".join(named), command, words
