"""docs/reference/commands.md: every command with its help, from the command line itself."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer.main
from rich.text import Text
from typer._click import Command
from typer.core import TyperGroup

from mudra.bootstrap.command_line import app
from mudra.cli.output.output import Exit

_INTRO: Final = (Path(__file__).parent / "commands_intro.md").read_text(encoding="utf-8")
_COMMON: Final = ("--data-dir", "--base-url", "--prefix", "--json")
"""Options of many commands that the page describes once."""
_BASE_URL: Final = (
    "Base address of the token service; else MUDRA_BASE_URL, else that of the last sign-in, "
    "else http://127.0.0.1:8080/iam."
)
_SAME: Final = {
    "--data-dir": ("Data directory; else MUDRA_DATA_DIR, else ./var.",),
    "--base-url": (_BASE_URL,),
    "--prefix": ("Path of the network's metrics.",),
    "--json": ("Print JSON for programs.", "Write JSON, for programs."),
    "--yes": ("Do not ask, on a terminal either.",),
}
"""What they say where the description at the top holds for them."""
_NO_SIGN_IN: Final = ("login", "logout", "password", "registry lint", "sandbox advance")
"""Commands that call a service and need no sign-in there."""
_EXITS: Final[Mapping[Exit, tuple[str, str]]] = {
    Exit.OK: ("done", "nothing"),
    Exit.FAILED: (
        "refused, or a check found something",
        (
            "read the sentence on standard error. A command on many (`member import`, `bulk`, "
            "`migrate`) has done the rest: its output says which were refused"
        ),
    ),
    Exit.USAGE: (
        "the words of the command are wrong, or a value, file or setting that they name",
        "read the sentence on standard error; compare with `--help`",
    ),
    Exit.NOT_SIGNED_IN: ("no sign-in, or one that ended", "`mudra login EMAIL`, then again"),
    Exit.WAIT: ("a limit is reached", "wait as long as the sentence says, then again"),
    Exit.UNREACHABLE: (
        "service or database did not answer",
        "again after a minute; is the address right, does the service run?",
    ),
    Exit.NOT_INSTALLED: (
        "an extra is not installed",
        "install what the sentence names ([install](../how-to/install.md))",
    ),
}
_ASKED: Final = (
    ("sign in, before all commands of a member", "login"),
    ("read my entity's secret", "secret read"),
    ("replace the secret, the old one goes on for a week", "secret reset"),
    ("keep the secret fresh by cron", "secret renew"),
    ("get a token into a variable", "token entity"),
    ("verify a token offline", "token verify"),
    ("check my registry entry before I send it", "registry lint"),
    ("send my registry entry", "registry submit"),
    ("see what is wrong with my entity", "entity attention"),
    ("try my alarm receiver", "webhook listen"),
    ("check and start the agent", "agent check"),
    ("add a member with its first admin", "member onboard"),
    ("give an admin a new link, for a lost password too", "admin invite"),
    ("remove an admin's lost second factor", "admin reset-factor"),
    ("replace an admin who left", "admin handover"),
    ("approve a registry entry", "registry approve"),
    ("stop a member at once", "member suspend"),
    ("see who did what", "audit list"),
    ("find why an email did not arrive", "mail list"),
    ("find an open incident", "health incidents"),
    ("see calls, success and times", "health picture"),
    ("send no alarms for some hours", "health silence"),
    ("announce a maintenance of a member, 24 hours before", "health maintenance"),
    ("tell the public", "announcement publish"),
    ("decide on disputes", "dispute queue"),
    ("contest a figure of my entity", "dispute raise"),
    ("make a report of service levels", "report make"),
    ("read my reports of service levels", "report own"),
    ("write metrics into files", "metrics export"),
    ("rotate the signing keys", "keys rotate"),
    ("find what is wrong with this machine", "doctor"),
    ("back up, and restore", "backup create"),
    ("make a network to try things in", "serve"),
)
_KINDS: Final = {
    "path": "PATH", "file": "FILE", "uuid": "UUID", "int": "NUMBER", "int range": "NUMBER",
    "float": "NUMBER", "float range": "NUMBER",
}  # fmt: skip
Words = Sequence[str]


def commands_page() -> str:
    """Returns the page; raises KeyError for a question whose command is gone."""
    found = list(_walk(typer.main.get_command(app), ["mudra"]))
    single = {" ".join(words): command for words, command in found if not _is_group(command)}
    asked = [_asked(question, single, name) for question, name in _ASKED]
    parts = [
        _INTRO.format(
            asked="\n".join(asked),
            areas="\n".join(_area(words, one, found) for words, one in found if _has_own(one)),
            exits="\n".join(_exits()),
        )
    ]
    for words, command in found:
        if len(words) == 1:
            parts.append(f"## {words[0]}\n\n{_plain(command.help)}\n\n{_options(command)}")
        elif _is_group(command):
            parts.append(f"## {' '.join(words)}\n\n{_plain(command.help)}\n")
        else:
            parts.append(_command(words, command))
    return "\n".join(parts)


def _plain(text: str | None) -> str:
    """Returns a text of the help as a terminal shows it."""
    return Text.from_markup(text or "", emoji=False).plain


def _walk(command: Command, words: Words) -> Iterator[tuple[Words, Command]]:
    """Gives each command by name; in a group, its own commands before the groups inside it."""
    yield words, command
    if isinstance(command, TyperGroup):
        inside = len(words) > 1
        inner = sorted(
            command.commands.items(), key=lambda one: (inside and _is_group(one[1]), one[0])
        )
        for name, one in inner:
            yield from _walk(one, [*words, name])


def _is_group(command: Command) -> bool:
    return isinstance(command, TyperGroup)


def _has_own(command: Command) -> bool:
    return isinstance(command, TyperGroup) and not all(map(_is_group, command.commands.values()))


def _asked(question: str, single: Mapping[str, Command], name: str) -> str:
    words = f"mudra {name}"
    return f"| {question} | {_link(words)} | {_who(words, single[words])} |"


def _area(words: Words, group: Command, found: Sequence[tuple[Words, Command]]) -> str:
    own = [
        (inner, one)
        for inner, one in found
        if list(inner[:-1]) == list(words) and not _is_group(one)
    ]
    links = ", ".join(f"[{inner[-1]}](#{'-'.join(inner)})" for inner, _ in own)
    about = "Single commands." if len(words) == 1 else _plain(group.help)
    return f"| `{' '.join(words)}` | {about} {links} |"


def _exits() -> Iterator[str]:
    for code in Exit:
        meaning, way_out = _EXITS[code]
        yield f"| {int(code)} | {meaning} | {way_out} |"


def _link(words: str) -> str:
    return f"[{words}](#{words.replace(' ', '-')})"


def _who(words: str, command: Command) -> str:
    area = words.removeprefix("mudra ")
    if area.startswith("agent "):
        return "agent"
    if area == "setup":
        return "operator"
    if any(area == one or area.startswith(f"{one} ") for one in _NO_SIGN_IN):
        return "anyone"
    names = {name for one in command.params for name in one.opts}
    if "--data-dir" in names and "--base-url" in names:
        return "signed in, or operator"
    if "--data-dir" in names:
        return "operator"
    if "--base-url" in names and not _is_needed(command, "--base-url"):
        return "signed in"
    return "anyone"


def _is_needed(command: Command, name: str) -> bool:
    return any(name in one.opts and one.required for one in command.params)


def _command(words: Words, command: Command) -> str:
    level = "##" if len(words) == 2 else "###"  # noqa: PLR2004  # `mudra serve`
    name = " ".join(words)
    usage = " ".join([name, *filter(None, map(_usage, _ordered(command)))])
    about, _, example = _plain(command.help).partition("Example: ")
    text = f"*{_who(name, command).capitalize()}.* {about.strip()}\n"
    parts = [f"{level} {name}\n", f"```text\n{_folded(usage)}\n```\n", text, _options(command)]
    if command.epilog:
        parts.append(_examples(_plain(command.epilog)) + "\n")
    elif example:
        parts.append(f"Example: {' '.join(example.split())}\n")
    return "\n".join(filter(None, parts))


def _ordered(command: Command) -> list[Any]:
    """Returns arguments, options that are needed, then those that may be left out."""
    own = [one for one in command.params if one.name != "help"]
    rest = [one for one in own if one.param_type_name == "option"]
    last = [one for one in rest if one.opts[0] in _COMMON]
    needed = [one for one in rest if one.required and one not in last]
    free = [one for one in rest if not one.required and one not in last]
    return [*(one for one in own if one.param_type_name == "argument"), *needed, *free, *last]


def _usage(one: Any) -> str:
    if one.param_type_name == "argument":
        shown = _placeholder(one) + ("…" if one.nargs == -1 else "")
    else:
        names = [*one.opts[:1], *one.secondary_opts[:1]]
        flag = names[-1] if one.default is True else "|".join(names if _is_open(one) else names[:1])
        shown = flag if _is_flag(one) else f"{one.opts[0]} {_value(one)}"
        shown += "…" if getattr(one, "multiple", False) else ""
    return shown if one.required else f"[{shown}]"


def _placeholder(one: Any) -> str:
    return str(one.metavar or one.name).strip("{}[].").upper()


def _value(one: Any) -> str:
    """Names what is given: the words where there are few, else its kind."""
    if _are_in_usage(_choices(one)):
        return "|".join(_choices(one))
    return _KINDS.get(one.type.name) or one.opts[0].lstrip("-").replace("-", "_").upper()


def _choices(one: Any) -> Words:
    return tuple(getattr(one.type, "choices", None) or ())


def _are_in_usage(choices: Words) -> bool:
    """Says whether the first line has the words: more of them would make it too long."""
    return 0 < len(choices) <= 4  # noqa: PLR2004


def _is_flag(one: Any) -> bool:
    return bool(getattr(one, "is_flag", False))


def _is_open(one: Any) -> bool:
    """Says whether a flag is neither set nor not where it is left out."""
    return one.default is None


def _folded(usage: str) -> str:
    """Folds a line at 96 characters, for a window of that width."""
    pieces = re.findall(r"\[[^\]]*\]|\S+(?: [A-Z][A-Z_|]*(?= |$))?", usage)
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if len(lines[-1]) + len(piece) + 1 > 96:  # noqa: PLR2004
            lines.append("   ")
        lines[-1] += f" {piece}"
    return "\n".join(lines)


def _options(command: Command) -> str:
    rows = []
    for one in _ordered(command):
        text = _plain(getattr(one, "help", None))
        if text and text not in _SAME.get(one.opts[0], ()):
            argument = one.param_type_name == "argument"
            names = [*one.opts, *(one.secondary_opts if one.default is not False else ())]
            name = _placeholder(one) if argument else ", ".join(names)
            rows.append(f"- `{name}` {' '.join([text, *_facts(one, text)])}")
    return "\n".join([*rows, ""]) if rows else ""


def _facts(one: Any, text: str) -> Iterator[str]:
    """Says what its words do not: which values it takes, and what it is when left out."""
    choices = _choices(one)
    in_usage = one.param_type_name == "option" and _are_in_usage(choices)
    if choices and not in_usage and not any(word in text for word in choices):
        yield f"One of {', '.join(choices)}."
    low, high = getattr(one.type, "min", None), getattr(one.type, "max", None)
    if low is not None and high is not None and f"{high:,}" not in text and str(high) not in text:
        yield f"{low:,} to {high:,}."
    elif low is not None and high is None:
        yield f"At least {low:,}."
    if getattr(one, "multiple", False) and "again" not in text and "epeat" not in text:
        yield "May be repeated."
    default = one.default
    shown = getattr(default, "value", default)
    if shown and not isinstance(shown, bool) and not callable(shown) and "default" not in text:
        yield f"Default {shown}."


def _examples(epilog: str) -> str:
    """Returns the examples as code, as the help has them without marks."""
    head, _, rest = epilog.partition(": ")
    if head != "Example":
        return epilog
    return "Example: " + " · ".join(f"`{one}`" for one in rest.split(" · "))
