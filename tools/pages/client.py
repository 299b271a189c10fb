"""docs/reference/client.md: the public names of `mudra.client`, from their docstrings."""

import dataclasses
import enum
import inspect
import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from mudra import client
from mudra.client import MudraClientError
from mudra.client.web import asgi, key_proof_asgi, key_proof_wsgi, wsgi

_INTRO: Final = """# Client library

Made by `make docs` from the docstrings of `mudra.client`, which is installed without an extra
([install](../how-to/install.md)). [Use the client library](../how-to/use-the-client-library.md)
shows it in programs. A name with its type and
no parameters is an attribute. Each class that calls the service has a twin `Async…` with the same
names, whose methods are awaited.
"""
_GROUPS: Final = {
    "Tokens of our own": (
        "EntityTokenSource",
        "EntityTokenAuth",
        "RequestsTokenAuth",
        "GraceWarning",
        "DpopKey",
    ),
    "Tokens of callers": (
        "TokenVerifier",
        "EntityToken",
        "Role",
        "PresentedProof",
        "ProofUse",
        "ProofMemory",
    ),
    "The registry": ("Directory", "DirectoryEntry"),
    "Signatures": ("BodySigner", "RegisteredKey", "KeyProof", "KeyProofRefused"),
}
_MIDDLEWARE: Final = (asgi, wsgi, key_proof_asgi, key_proof_wsgi)
_MODULE: Final = re.compile(
    r"\b(?:mudra|collections|datetime|pathlib|typing|msgspec)(?:\.[a-z_]+)*\."
)
_OPTIONAL: Final = re.compile(r"Optional\[([^\[\]]+)\]")
_LINE: Final = 80


def client_page() -> str:
    """Returns the page; raises AssertionError for a public name that no group has."""
    grouped = {name for names in _GROUPS.values() for name in names}
    errors = {name for name in client.__all__ if _is_error(getattr(client, name))}
    twins = {f"Async{name}" for name in grouped}
    constants = {name for name in client.__all__ if name.isupper()}
    left = set(client.__all__) - grouped - errors - twins - constants
    assert not left, f"no group for {', '.join(sorted(left))}"
    parts = [_INTRO]
    for title, names in _GROUPS.items():
        parts.append(f"## {title}\n")
        parts += [_class(name, getattr(client, name)) for name in names]
    parts += ["## Middleware\n", *(_middleware(module) for module in _MIDDLEWARE)]
    parts += ["## Errors\n", _errors(sorted(errors)), "## Constants\n", _constants(constants)]
    return "\n".join(parts)


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, MudraClientError)


def _class(name: str, value: type) -> str:
    shown = "" if issubclass(value, enum.Enum) else _signature(value)
    twin = f"Async{name}"
    also = f"\nTwin: `{twin}`.\n" if twin in client.__all__ else ""
    parts = [f"### {name}\n", *_block(f"{name}{shown}" if shown else ""), _text(value), also]
    own = vars(value).get("__init__")
    constructor = inspect.cleandoc(own.__doc__) if own and own.__doc__ else ""
    parts += [_plain(constructor) + "\n"] if constructor else []
    parts += _fields(value)
    parts += [_method(method, one) for method, one in _methods(value)]
    return "\n".join(part for part in parts if part)


def _block(code: str) -> list[str]:
    return [f"```text\n{code}\n```\n"] if code else []


def _methods(value: type) -> Iterator[tuple[str, Any]]:
    of_bases = {
        name: one
        for base in reversed(value.__mro__[1:])
        if base.__module__.startswith("mudra.client")
        for name, one in vars(base).items()
        if isinstance(one, property)
    }
    for name, one in (of_bases | vars(value)).items():
        if not name.startswith("_") and (inspect.isfunction(one) or isinstance(one, property)):
            yield name, one


def _method(name: str, one: Any) -> str:
    if isinstance(one, property):
        assert one.fget is not None
        kind = inspect.signature(one.fget).return_annotation
        return "\n".join([f"#### {name}\n", *_block(f"{name}: {_type(kind)}"), _text(one)])
    return "\n".join([f"#### {name}\n", *_block(f"{name}{_signature(one)}"), _text(one)])


def _signature(value: Any) -> str:
    """Returns the parameters one to a line, without the modules of their types."""
    signature = inspect.signature(value)
    parameters = [one for one in signature.parameters.values() if one.name != "self"]
    shown = [_parameter(one) for one in parameters]
    first = next((n for n, one in enumerate(parameters) if one.kind is one.KEYWORD_ONLY), None)
    if first is not None and not any(one.kind is one.VAR_POSITIONAL for one in parameters):
        shown.insert(first, "*")
    returned = signature.return_annotation
    is_class = isinstance(value, type)
    shown_result = (
        "" if is_class or returned in {None, signature.empty} else f" -> {_type(returned)}"
    )
    line = f"({', '.join(shown)}){shown_result}"
    if len(line) < _LINE:
        return line
    inner = "".join(f"\n    {one}," for one in shown)
    return f"({inner}\n){shown_result}"


def _parameter(one: inspect.Parameter) -> str:
    star = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
    kind = f": {_type(one.annotation)}" if one.annotation is not one.empty else ""
    default = f" = {_default(one.default)}" if one.default is not one.empty else ""
    return f"{star}{one.name}{kind}{default}"


def _default(value: object) -> str:
    plain = isinstance(value, str | int | float | bool | tuple | None | type(None))
    return repr(value) if plain else "…"


def _type(annotation: object) -> str:
    shown = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    plain = _MODULE.sub("", shown.replace("NoneType", "None"))
    return _OPTIONAL.sub(r"\1 | None", plain).replace("~_", "").replace("~", "")


def _fields(value: type) -> list[str]:
    if issubclass(value, enum.Enum):
        return ["Values: " + ", ".join(f"`{one.value}`" for one in value) + ".\n"]
    if dataclasses.is_dataclass(value):
        rows = [(one.name, one.type) for one in dataclasses.fields(value)]
    elif issubclass(value, Struct):
        rows = [(name, value.__annotations__.get(name, "")) for name in value.__struct_fields__]
    else:
        return []
    public = [(name, kind) for name, kind in rows if not name.startswith("_")]
    table = [
        f"| `{name}` | `{_type(kind)}` |".replace(" | None", " \\| None") for name, kind in public
    ]
    return ["| field | type |", "|---|---|", *table, "\n"] if table else []


def _middleware(module: Any) -> str:
    found = [
        (name, one)
        for name, one in vars(module).items()
        if inspect.isclass(one) and one.__module__ == module.__name__ and not name.startswith("_")
    ]
    return "\n".join(
        f"### {name} ({module.__name__.rpartition('.')[2]})\n\n"
        f"```text\nfrom {module.__name__} import {name}\n\n{name}{_signature(one)}\n```\n\n"
        f"{_text(one)}"
        for name, one in found
        if name.endswith("Middleware")
    )


def _errors(names: list[str]) -> str:
    rows = []
    for name in names:
        of = getattr(client, name)
        base = of.__mro__[1].__name__
        text = _plain(inspect.getdoc(of) or "").replace("\n", " ").replace("|", "\\|")
        rows.append(f"| `{name}` | `{base}` | {text} |")
    return "\n".join(["| error | is a | when |", "|---|---|---|", *rows, ""])


def _constants(names: set[str]) -> str:
    rows = [f"| `{name}` | `{getattr(client, name)}` |" for name in sorted(names)]
    return "\n".join(["| name | value |", "|---|---|", *rows, ""])


def _text(value: Any) -> str:
    return _plain(inspect.getdoc(value) or "") + "\n"


def _plain(text: str) -> str:
    """Returns a docstring as Markdown: sections and indented samples become blocks."""
    lines, inside = [], False
    for line in text.replace("Raises:\n", "Raises:\n\n").splitlines():
        sample = line.startswith("    ") and not re.match(r"\s+\w+: ", line)
        if sample and not inside:
            lines.append("```text")
        if not sample and inside and line:
            lines.append("```\n")
        if line or not inside:
            inside = sample or (inside and not line)
        lines.append(line[4:] if sample else re.sub(r"^\s+(\w+): ", r"* `\1`: ", line))
    if inside:
        lines.append("```")
    return "\n".join(lines).replace("\n\n```\n", "\n```\n")
