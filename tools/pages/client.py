"""docs/reference/client.md: the public names of `mudra.client`, from their docstrings."""

import dataclasses
import enum
import inspect
import re
import textwrap
from ast import AnnAssign, ClassDef, Constant, Expr, Name, parse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from mudra import client
from mudra.client import MudraClientError
from mudra.client.web import asgi, key_proof_asgi, key_proof_wsgi, wsgi
from tools.pages.client_parameters import parameter_table

_INTRO: Final = (Path(__file__).parent / "client_intro.md").read_text(encoding="utf-8")
_EXAMPLES: Final = dict(
    re.findall(
        r"^### (\w+)\n\n(```python\n.*?^```\n)",
        (Path(__file__).parent / "client_examples.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
)
_NOT_MADE: Final = {"RegisteredKey"}
"""Classes of which the library makes the instances."""
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
    "Signatures": ("BodySigner", "RegisteredKey", "KeyProof"),
}
_MIDDLEWARE: Final = (asgi, wsgi, key_proof_asgi, key_proof_wsgi)
_MODULE: Final = re.compile(
    r"\b(?:mudra|collections|datetime|pathlib|typing|msgspec)(?:\.[a-z_]+)*\."
)
_OPTIONAL: Final = re.compile(r"Optional\[([^\[\]]+)\]")
_APP: Final = re.compile(r"Callable\[\[MutableMapping.*\Z")
_HOOKS: Final = {"auth_flow", "sync_auth_flow", "async_auth_flow"}
"""Methods that httpx2 calls, and no program."""
_CLOCKS: Final = {"wall", "steady", "chance"}
"""Parameters that only tests set; the page describes them once."""
_LINE: Final = 80
_WAYS_OUT: Final[Mapping[type, str]] = {
    MudraClientError: "catch it where no other does; `way_out` says what to do",
    client.TokenRefused: "answer 401 to the caller; the middleware does",
    client.TooManyProofs: "answer 429; the middleware does",
    client.RetryableError: "try again after `retry_after` seconds; answer 503 to who waits for it",
    client.SecretRefused: "check entity ID and secret: was the secret reset, the entity suspended?",
    client.SecretUnreadable: "correct your function, or the place where it reads",
    client.SignatureRefused: "refuse the body; was it changed on its way, or the key of the entry?",
    client.KeyProofRefused: "answer 400; the middleware does",
    client.UnexpectedResponse: "check the address: another server answered",
}
"""What a program does about an error, and about those that are of its kind."""


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
    parts += ["## Errors\n", _errors(errors), "## Constants\n", _constants(constants)]
    return "\n".join(parts)


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, MudraClientError)


def _class(name: str, value: type) -> str:
    shown = "" if issubclass(value, enum.Enum) or name in _NOT_MADE else _signature(value)
    twin = f"Async{name}"
    also = f"\nTwin: `{twin}`.\n" if twin in client.__all__ else ""
    parts = [f"### {name}\n", *_block(f"{name}{shown}" if shown else ""), _text(value), also]
    own = vars(value).get("__init__")
    constructor = inspect.cleandoc(own.__doc__) if own and own.__doc__ else ""
    parts += [_plain(constructor) + "\n"] if constructor else []
    parts += ["\n".join(parameter_table(name, _defaults(value)))]
    parts += _fields(value)
    parts += (
        [f"After [the first sample](#in-one-piece):\n\n{_EXAMPLES[name]}"]
        if name in _EXAMPLES
        else []
    )
    parts += [_method(name, method, one) for method, one in _methods(value)]
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
        if name.startswith("_") or name in _HOOKS:
            continue
        if isinstance(one, classmethod):
            yield name, getattr(value, name)
        elif inspect.isfunction(one) or isinstance(one, property):
            yield name, one


def _method(of: str, name: str, one: Any) -> str:
    if isinstance(one, property):
        assert one.fget is not None
        line = f"{name}: {_type(inspect.signature(one.fget).return_annotation)}"
    else:
        line = f"{name}{_signature(one)}"
    return f"#### {of}.{name}\n\n`{line}`\n\n{_text(one)}"


def _signature(value: Any) -> str:
    """Returns the parameters one to a line, without the modules of their types."""
    signature = inspect.signature(value)
    parameters = [
        one for one in signature.parameters.values() if one.name not in {"self", *_CLOCKS}
    ]
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


def _defaults(value: type) -> dict[str, str]:
    """Returns the defaults of the parameters that programs set."""
    return {
        one.name: "needed" if one.default is one.empty else f"`{_default(one.default)}`"
        for one in inspect.signature(value).parameters.values()
        if one.name not in _CLOCKS
    }


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
    plain = _APP.sub("ASGI application", _MODULE.sub("", shown.replace("NoneType", "None")))
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
    meanings = _field_texts(value)
    table = [
        f"| `{name}` | `{_type(kind)}` | {meanings.get(name, '')} |".replace(" | None", " \\| None")
        for name, kind in rows
        if not name.startswith("_") and name not in _CLOCKS
    ]
    return ["| field | type | meaning |", "|---|---|---|", *table, "\n"] if table else []


def _field_texts(value: type) -> Mapping[str, str]:
    """Returns the texts below the fields of a class, in one line each."""
    (body,) = parse(textwrap.dedent(inspect.getsource(value))).body
    assert isinstance(body, ClassDef)
    found = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if not isinstance(field, AnnAssign) or not isinstance(field.target, Name):
            continue
        if isinstance(text, Expr) and isinstance(text.value, Constant):
            found[field.target.id] = " ".join(str(text.value.value).split()).rstrip(".")
    return found


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


def _errors(errors: set[str]) -> str:
    """Returns the errors as a tree: those of a kind below it, each with what to do."""
    rows = [
        f"| {'&nbsp;' * 4 * depth}`{error.__name__}` | {_first(error)} | {_way_out(error)} |"
        for depth, error in _tree(MudraClientError, 0)
        if error.__name__ in errors
    ]
    assert len(rows) == len(errors)
    head = [
        "Each has `diagnosis`, what is wrong, and `way_out`, what to do about it. None contains a",
        "token or a secret. An error that is further in is of the kind above it: who catches",
        "`TokenRefused` catches all of its kind.",
        "",
    ]
    table = ["| error | when | what to do |", "|---|---|---|", *rows, ""]
    return "\n".join([*head, *table])


def _tree(error: type, depth: int) -> Iterator[tuple[int, type]]:
    yield depth, error
    kinds: list[type] = error.__subclasses__()
    for one in sorted(kinds, key=lambda kind: kind.__name__):
        if one.__module__.startswith("mudra.client"):
            yield from _tree(one, depth + 1)


def _first(error: type) -> str:
    return " ".join(_plain(inspect.getdoc(error) or "").split()).replace("|", "\\|")


def _way_out(error: type) -> str:
    """Returns what to do, where it is another thing than for the kind above."""
    if error in _WAYS_OUT:
        return _WAYS_OUT[error]
    kind = next(one for one in error.__mro__ if one in _WAYS_OUT)
    return f"as `{kind.__name__}`"


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
