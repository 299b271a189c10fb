"""Texts of pages that no one marked for the catalogues, found without a page."""

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
from mudra.console.framework.navigation import MEMBER_ITEMS, OPERATOR_ITEMS
from mudra.console.framework.render import environment
from mudra.console.framework.table import Table
from mudra.console.health.tables import moments_table
from mudra.console.pages import member, operator, webhooks
from mudra.console.pages.member.health.health_lines import lines_table
from mudra.localization.catalogue import message_ids
from mudra.localization.languages import TEMPLATE
from mudra.metrics.rollup.step import Step
from mudra.shared.refusal import WAIT_TEXT, PlainRefusal, Refusal

TEMPLATES = Path("src/mudra/console/templates")
IN_ENGLISH = {"documentation_missing", "sandbox"}
"""The home of a sandbox, and an installation without documentation."""
TERMS = {
    "https://",
    "CSV",
    "Mudra",
    "Ctrl K",
    "§ UTC",
    "webhook-id",
    "https://alarms.example/mudra",
}
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


TO_PROGRAMS = {
    "as many pushes are in progress as can be accepted at once; nothing was stored, try again",
    "more pushes of this tag than are permitted",
    "no subscription has this link",
    "the operator of this network publishes no service levels",
}
"""Refusals that no page of the console shows."""


def templates() -> list[str]:
    return sorted({path.stem for path in TEMPLATES.glob("*.html")} - IN_ENGLISH)


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
    assert unmarked(source) - DATA.get(name, set()) == set()


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
    found = [
        one
        for package in (member, operator)
        for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    modules = [webhooks, *(importlib.import_module(one.name) for one in found)]
    tables = [one for module in modules for one in vars(module).values() if isinstance(one, Table)]
    tables += [moments_table(step) for step in Step]
    tables += [lines_table("AA", every=every, one_api=False) for every in (True, False)]
    titles = {title for one in tables for title in (one.title, *(c.title for c in one.columns))}
    assert len(titles) > 30  # the tables were found
    assert titles - message_ids(TEMPLATE) == {"5xx", "AA"}


def test_every_refusal_of_pages_is_in_hindi() -> None:
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

    assert texts - message_ids(TEMPLATE) == TO_PROGRAMS


def test_every_item_of_the_menu_is_a_message() -> None:
    assert {item.title for item in (*MEMBER_ITEMS, *OPERATOR_ITEMS)} <= message_ids(TEMPLATE)
