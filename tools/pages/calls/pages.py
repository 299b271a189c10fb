"""The pages of calls: a list of all, and one for each area."""

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final

import msgspec

from mudra.demo.faults.handlers import handlers
from mudra.http.app import build_routes
from mudra.http.openapi.document import json_document
from mudra.http.route_settings import RouteSettings
from mudra.http.server.given import Given
from mudra.settings.settings import Settings
from tools.pages.calls.areas import AREAS, Area, place_of
from tools.pages.calls.call import Call
from tools.pages.calls.commands import command
from tools.pages.calls.shapes import Json, Shapes, cell, meaning
from tools.pages.calls.words import with_one_list_each
from tools.pages.calls.written import written

_INTRO: Final = (Path(__file__).parent / "intro.md").read_text(encoding="utf-8")
_COMMON: Final = """\
Made by `make docs` from the OpenAPI document. What holds for all calls, such as the token, the
errors and what to do after them, is in [calls](../calls.md#what-holds-for-all-calls);
[one whole call](../calls.md#one-whole-call) explains `$ROOT`, `$USER_TOKEN` and other variables.
"""
_MANY: Final = 4
"""Rows of an answer that are not written twice on a page."""
_LONG: Final = 25
"""Lines of an answer that are not shown at once."""
_ENVELOPE: Final = frozenset({"ver", "timestamp", "txnId"})
_OF_ALL: Final = frozenset({"X-Request-Id", "Cache-Control", "Vary"})
_METHODS: Final = ("get", "post", "put", "delete")
"""What is read comes first, then what is made, changed and removed."""
_REMOVES: Final = re.compile(
    r"^delete |/(remove|end|revoke|retire|reset|decline|disable)$|/members/\{entity_id\}/status$"
)
"""Calls after which others find a thing no more."""
_FORM: Final = "application/x-www-form-urlencoded"
_SPECIAL: Final = {"304": "may answer 304"}
_STATES: Final = ("404", "409")
_BOUND: Final = "../token-service.md#bound-to-a-key-dpop"
_WITH_PROOF: Final = f"""\
With an Entity Access Token that is [bound to a key]({_BOUND}) the header is
`Authorization: DPoP $ENTITY_TOKEN` in place of `Bearer`, and a header `DPoP` has a new proof.
"""
_OAUTH: Final = "Refusals: [OAuth's errors](../errors.md#oauth)."
_SHORT: Final = (
    (r"Entity Access Token of this entity, or User .*", "entity, user or operator: registry"),
    (r"User Access Token of its admin, or of .*", "user or operator: registry"),
    (r"User Access Token of an operator with the scope `(\w+)`", r"operator: \1"),
    (r"User Access Token of an operator with any scope", "operator"),
    (r"Entity Access Token of the AA in `aaId`", "entity: AA"),
    (r"Entity Access Token of an entity of the type (.+)", r"entity: \1"),
    (r"Entity Access Token of an (FIU or AA)", r"entity: \1"),
    (r"Entity Access Token", "entity"),
    (r"User Access Token", "user"),
)
"""Words of the list of all calls for the tokens that calls need."""


def calls_pages() -> Mapping[str, str]:
    """Returns the text of each page by its file below docs/reference."""
    routes = build_routes(RouteSettings.of(Settings(sandbox=True)), Given(), of_sandbox=handlers)
    document = msgspec.json.decode(json_document(routes.litestar))
    placed: dict[str, dict[str, list[Call]]] = {
        area.file: {part: [] for part in area.parts} for area in AREAS
    }
    for path, operations in document["paths"].items():
        for method in filter(operations.__contains__, _METHODS):
            area, part = place_of(method, path)
            placed[area.file][part].append(Call(method, path, operations[method]))
    placed = {
        file: {part: _last_what_ends(calls) for part, calls in parts.items()}
        for file, parts in placed.items()
    }
    pages = {
        f"calls/{area.file}.md": _page(area, placed[area.file], document["components"])
        for area in AREAS
    }
    return {"calls.md": _index(placed), **pages}


def _last_what_ends(calls: list[Call]) -> list[Call]:
    """Returns calls in the order in which a reader can make them: what removes a thing is last."""
    return sorted(calls, key=lambda call: _REMOVES.search(f"{call.method} {call.path}") is not None)


def _index(placed: Mapping[str, Mapping[str, list[Call]]]) -> str:
    areas = []
    lists = []
    for area in AREAS:
        parts = placed[area.file]
        links = ", ".join(f"[{part}](calls/{area.file}.md#{_anchor(part)})" for part in parts)
        areas.append(f"| [{area.title}](calls/{area.file}.md) | {links} |")
        lists += [f"### {area.title}\n", "| you want to | call | token |", "|---|---|---|"]
        lists += [_row(area, call) for calls in parts.values() for call in calls]
        lists.append("")
    return _INTRO.format(areas="\n".join(areas), lists="\n".join(lists).rstrip())


def _row(area: Area, call: Call) -> str:
    to = f"calls/{area.file}.md#{_anchor(call.summary)}"
    return f"| [{call.summary}]({to}) | `{call.method.upper()} {call.path}` | {_short(call)} |"


def _short(call: Call) -> str:
    for pattern, words in _SHORT:
        if found := re.fullmatch(pattern, call.needs):
            return found.expand(words)
    return "credentials" if "credentials" in call.needs else "none"


def _anchor(heading: str) -> str:
    """Returns the anchor that the site and code hosts give a heading."""
    return re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")


def _page(area: Area, parts: Mapping[str, list[Call]], components: Json) -> str:
    shapes = Shapes(components, [_shape_of(call) for calls in parts.values() for call in calls])
    answers: dict[str, Call] = {}
    texts = [
        f"# {area.title}\n",
        f"{area.about}\n",
        _COMMON,
        f"The account of the sandbox in all commands of this page: {area.who}\n",
    ]
    if any("Entity Access Token" in call.needs for calls in parts.values() for call in calls):
        texts.append(_WITH_PROOF)
    for part, calls in parts.items():
        texts.append(f"## {part}\n")
        texts += [_section(call, shapes, answers) for call in calls]
    objects = list(_objects(shapes))
    if objects:
        texts += ["## Objects\n", *objects]
    page = with_one_list_each("\n".join(texts))
    headings = [_anchor(one) for one in re.findall(r"^#+ (.+)$", page, re.MULTILINE)]
    assert len(headings) == len(set(headings)), f"two parts of {area.file} have one anchor"
    return page


def _shape_of(call: Call) -> Json:
    """Returns what a call is made of, without the refusals that all calls share."""
    answers = {
        status: one for status, one in call.operation["responses"].items() if status[0] == "2"
    }
    return {**call.operation, "responses": answers}


def _section(call: Call, shapes: Shapes, answers: dict[str, Call]) -> str:
    sent = [*_parameters(call, shapes), *_body(call, shapes)]
    answered = list(_answered(call, shapes))
    array = "an array, each element with" if _is_array(call) else "answered"
    statuses = [*call.operation["responses"]]
    special = [text for status, text in _SPECIAL.items() if status in statuses]
    if str(HTTPStatus.ACCEPTED.value) in statuses:
        special.append("202 in place of 200")
    also = f" · {', '.join(special)}" if special else ""
    lines = [
        f"### {call.summary}",
        "",
        f"`{call.method.upper()} {call.path}` · {call.needs}{also}",
        "",
        call.about,
        "",
    ]
    if sent:
        lines += ["| sent | as | meaning |", "|---|---|---|", *sent, ""]
    lines += [*command(call), *_headers(call)]
    first = answers.setdefault("\n".join(answered), call)
    sample = [] if _is_shown(call, first) else _sample(call)
    if first is not call and len(answered) >= _MANY:
        same = "one object with the fields" if _is_array(first) > _is_array(call) else "that"
        lines += [f"The answer is {same} of [{first.summary}](#{_anchor(first.summary)}).", ""]
        lines += sample
    elif answered:
        lines += [f"| {array} | type | meaning |", "|---|---|---|", *answered, "", *sample]
    lines += [_OAUTH, ""] if call.is_oauth else _refused(call, shapes)
    return "\n".join(lines)


def _is_shown(call: Call, first: Call) -> bool:
    """Returns whether the page has the sample of an answer at another call already."""
    one_of_many = _is_array(first) > _is_array(call)
    return first is not call and (one_of_many or _sample(call) == _sample(first))


def _headers(call: Call) -> list[str]:
    """Returns the headers of an answer which not every answer has."""
    answer = call.operation["responses"].get("200", {})
    shown = [f"`{name}`" for name in answer.get("headers", {}) if name not in _OF_ALL]
    return [f"Headers of the answer: {', '.join(shown)}.", ""] if shown else []


def _refused(call: Call, shapes: Shapes) -> list[str]:
    """Returns what of the present state refuses a call, in the sentences that a caller reads."""
    lines: list[str] = []
    for status in _STATES:
        if status not in call.operation["responses"]:
            continue
        answer = shapes.answer(call.operation["responses"][status])
        _, *sentences = answer["description"].split("\n- ")
        if len(sentences) == 1:
            lines += [f"{status}: *{sentences[0]}*", ""]
        elif sentences:
            listed = (f"- *{one}*" for one in sentences)
            lines += [f"{status}, with one of these sentences:", "", *listed, ""]
    return lines


def _is_array(call: Call) -> bool:
    contents = call.operation["responses"].get("200", {}).get("content", {})
    return bool(contents.get("application/json", {}).get("schema", {}).get("type") == "array")


def _parameters(call: Call, shapes: Shapes) -> Iterator[str]:
    if call.gives_entity_token:
        yield _line(
            "`DPoP`", "header, string", f"a [proof]({_BOUND}), for a token bound to its key"
        )
    for one in call.operation.get("parameters", []):
        if one["in"] in {"query", "path"}:
            schema = one.get("schema", {})
            form = _form(one["in"], shapes.type_of(schema), needed=bool(one.get("required")))
            about = meaning(schema, one.get("description", ""))
            yield _line(f"`{one['name']}`", form, about)


def _body(call: Call, shapes: Shapes) -> Iterator[str]:
    for media, body in call.operation.get("requestBody", {}).get("content", {}).items():
        place = "form" if media == _FORM else "JSON"
        several = [shapes.resolved(one) for one in body["schema"].get("oneOf", ())]
        schema = several[0] if several else shapes.resolved(body["schema"])
        required = schema.get("required", ())
        kinds = {
            f"`{name}`": " or ".join(
                dict.fromkeys(shapes.type_of(other["properties"][name]) for other in several)
            )
            for name in schema.get("properties", {})
        }
        if not kinds:
            about = cell(schema.get("description", ""))
            yield _line("the body", _form(place, "object", needed=True), about)
        for name, kind, about in shapes.rows(
            schema, without=_ENVELOPE - set(required), answered=False
        ):
            needed = name.strip("`") in required
            form = _form(place, (several and kinds.get(name)) or kind, needed=needed)
            yield _line(name, form, about)


def _form(place: str, kind: str, *, needed: bool) -> str:
    return ", ".join(filter(None, (place, "needed" if needed else "", kind)))


def _sample(call: Call) -> list[str]:
    """Returns a whole answer; a long one is closed until a reader opens it."""
    for status, response in call.operation["responses"].items():
        body = response.get("content", {}).get("application/json", {})
        if status.startswith("2") and "example" in body:
            block = ["```json", written(body["example"]), "```", ""]
            if block[1].count("\n") < _LONG:
                return ["Answer:", "", *block]
            opened = '<details markdown="1"><summary>Answer</summary>'
            return [opened, "", *block, "</details>", ""]
    return []


def _answered(call: Call, shapes: Shapes) -> Iterator[str]:
    for status, response in call.operation["responses"].items():
        if status.startswith("2"):
            for media, body in response.get("content", {}).items():
                schema = shapes.resolved(body.get("schema", {}))
                # Without a txnId it is no envelope: an entry has a version and a time of its own.
                without = _ENVELOPE if "txnId" in schema.get("properties", {}) else frozenset()
                rows = [_line(*row) for row in shapes.rows(schema, without=without)]
                yield from rows or [_line(f"a body of `{media}`", "", "")]


def _objects(shapes: Shapes) -> Iterator[str]:
    found = {name: _object(name, schema, shapes) for name, schema in shapes.objects()}
    return (found[name] for name in sorted(found))


def _object(name: str, schema: Json, shapes: Shapes) -> str:
    rows = [_line(*row) for row in shapes.rows(schema)]
    about = cell(schema.get("description", ""))
    parts = [f"### {name}\n", f"{about}\n" if about else ""]
    parts.append("\n".join(["| field | type | meaning |", "|---|---|---|", *rows, ""]))
    return "\n".join(filter(None, parts))


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
