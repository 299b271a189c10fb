"""Texts of members' pages that no one marked for the catalogues, found without a page."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import nodes

import mudra.disputes
import mudra.levels
import mudra.metrics
from mudra.console.framework.navigation import MEMBER_ITEMS
from mudra.console.framework.render import environment
from mudra.console.framework.table import Table
from mudra.console.health.tables import moments_table
from mudra.console.pages import member, webhooks
from mudra.localization.catalogue import message_ids
from mudra.localization.languages import TEMPLATE
from mudra.metrics.rollup.step import Step
from mudra.shared.refusal import WAIT_TEXT, PlainRefusal, Refusal

TEMPLATES = Path("src/mudra/console/templates")
IN_ENGLISH = {
    "documentation_missing", "health_as_reported", "health_matrix", "health_overview",
    "health_subject", "health_trend", "held_reports", "incident", "incidents", "sandbox", "sandbox_parts",
}  # fmt: skip
"""Pages of operators, and those of a sandbox and of an installation without documentation."""
OF_OPERATORS = {
    "console": {"Search", "Search everything", "Search  /", "Operator"},
    "faults": {
        "Entity ID", "Operator",
        (
            "§Only in the sandbox. The programs of one member meet what a service may answer on a"
            " bad day. No one else is affected."
        ),
    },
    "parts": {"Choose", "Choose §"},
    "webhooks": {
        "FIPs", "About", "the whole network", "Member", "(empty for the whole network)",
        (
            "Alarms about incidents are posted to these addresses: those of the whole network, and"
            " those of members about themselves.§§"
        ),
    },
}  # fmt: skip
"""What these templates show to operators alone."""
TERMS = {"https://", "CSV", "Mudra", "webhook-id", "https://alarms.example/mudra"}
DATA = {
    "registration": {"Identifiers"},
    "registration_findings": {"pending version", "live version"},
}
_ATTRIBUTES = re.compile(r'="|^§?( · )?§*/[\w/.§-]+$|^§( · )?§+(/\w+)?$|[a-z]/console$')
_WORD = re.compile("[A-Za-z]{2,}")
_SENTENCE = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}|^[A-Z][a-z]{2,}[.:]?$")
_HEARD = re.compile(r'(?:aria-label|placeholder|title|alt)="([^"]*)"|data-\w+="([^" ]* [^"]*)"')
_IN_ENGLISH = re.compile(r'<(ul|p|span) [^>]*lang="en".*?</\1>', re.DOTALL)
_UNSEEN = re.compile(r"<(script|style|pre|code).*?</\1>|<[^>]+>", re.DOTALL)
_MARKED = {"_", "gettext", "ngettext"}


TO_OPERATORS_AND_PROGRAMS = {
    "it was closed more than 90 days ago and can no longer be reopened",
    "no target of this ID holds or will",
    "500 rules are stored: replace one that has not begun",
    "500 targets are stored: end one first",
    "the incident is announced already: add an update to its announcement",
    "the announcement is not published yet: change it instead",
    "no current or scheduled announcement of this ID",
    "20 announcements are shown or scheduled, or 20 were made in 24 hours: end one, or wait",
    "the incident is over or was closed before, so nothing was changed",
    "the incident is open, withdrawn or part of another one: there is nothing to reopen",
    (
        "10 maintenances are active or scheduled, or began within 24 hours: end one that has not "
        "begun, or wait"
    ),
    (
        "the maintenances of some 7 days would be more than 24 hours: announce a shorter or later "
        "one"
    ),
    "no active or scheduled silence of this ID",
    "the AA has reported this window again; the later report counts",
    "no implausible report has this receipt",
    "as many pushes are in progress as can be accepted at once; nothing was stored, try again",
    "more pushes of this tag than are permitted",
    "no subscription has this link",
}
"""Refusals that no page of a member shows."""


def templates() -> list[str]:
    found = {path.stem for path in TEMPLATES.glob("*.html") if "operator_" not in path.name}
    return sorted(found - IN_ENGLISH)


def constants(node: nodes.Node) -> Iterator[str]:
    """The texts of a template's expressions, but for those that are marked."""
    if isinstance(node, nodes.Compare | nodes.Getitem | nodes.Test):
        return  # compares data, and shows nothing
    if isinstance(node, nodes.Call) and getattr(node.node, "name", "") in _MARKED:
        return
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        yield node.value
    for child in node.iter_child_nodes():
        yield from constants(child)


def unmarked(source: str) -> set[str]:
    """The texts of a template that stay in English in every language."""
    tree = environment().parse(source)
    page = "".join(
        piece.data if isinstance(piece, nodes.TemplateData) else "§"
        for output in tree.find_all(nodes.Output)
        for piece in output.nodes
    )
    page = _IN_ENGLISH.sub("\n", page)
    heard = ["".join(found) for found in _HEARD.findall(page)]
    lines = [line.strip() for line in [*_UNSEEN.sub("\n", page).splitlines(), *heard]]
    shown = {one for one in lines if _WORD.search(one) and not _ATTRIBUTES.search(one)}
    return (shown | {one for one in constants(tree) if _SENTENCE.search(one)}) - TERMS


@pytest.mark.parametrize("name", templates())
def test_every_text_of_a_template_is_marked(name: str) -> None:
    source = (TEMPLATES / f"{name}.html").read_text()
    assert unmarked(source) - OF_OPERATORS.get(name, set()) - DATA.get(name, set()) == set()


@pytest.mark.parametrize(
    "source",
    [
        "<p>Nothing yet.</p>",
        "<b>{{ count }} Calls</b>",
        '<a title="Show all"></a>',
        '{{ parts.empty("Nothing yet.") }}',
        '{{ "Followed" if followed else _("None") }}',
        '<b data-failed="{{ what }} failed here"></b>',
    ],
)
def test_an_unmarked_text_is_found(source: str) -> None:
    assert len(unmarked(source)) == 1


def test_every_title_of_a_table_is_a_message() -> None:
    found = [*pkgutil.iter_modules(member.__path__, f"{member.__name__}.")]
    modules = [webhooks, *(importlib.import_module(one.name) for one in found)]
    tables = [one for module in modules for one in vars(module).values() if isinstance(one, Table)]
    tables += [moments_table(step) for step in Step]
    titles = {title for one in tables for title in (one.title, *(c.title for c in one.columns))}
    assert len(titles) > 30  # the tables were found
    assert titles - message_ids(TEMPLATE) == {"5xx", "AA", "FIP"}


def test_every_refusal_of_members_pages_is_in_hindi() -> None:
    modules = [
        importlib.import_module(one.name)
        for package in (mudra.disputes, mudra.levels, mudra.metrics)
        for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    sentences = {
        one.sentence
        for module in modules
        for one in vars(module).values()
        if isinstance(one, PlainRefusal)
        or (isinstance(one, type) and issubclass(one, Refusal) and isinstance(one.sentence, str))
    }
    texts = {one.partition(f"; {WAIT_TEXT}")[0] for one in sentences}

    assert texts - message_ids(TEMPLATE) == TO_OPERATORS_AND_PROGRAMS


def test_every_item_of_the_menu_is_a_message() -> None:
    assert {item.title for item in MEMBER_ITEMS} <= message_ids(TEMPLATE)
