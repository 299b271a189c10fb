"""Names in templates: what the layout shows is the layout's, and a block fills one that is there."""

import jinja2
import pytest
from jinja2 import meta, nodes

from mudra.console.framework.page_responses import together
from mudra.console.framework.render import environment

LAYOUTS = ("page.html", "console.html")
NAMES = sorted(environment().list_templates(extensions=["html"]))


def parsed(name: str) -> nodes.Template:
    loader = environment().loader
    assert loader is not None
    return environment().parse(loader.get_source(environment(), name)[0])


OF_THE_LAYOUT = frozenset().union(
    *(meta.find_undeclared_variables(parsed(name)) for name in LAYOUTS)
) - {"asset", "parts"}
"""What the layout reads; `parts` are the macros that every page imports by this name."""


def own_names(tree: nodes.Template) -> set[str]:
    """What a template calls by a name of its own wherever it is: variables, imports, macros."""
    stored = {one.name for one in tree.find_all(nodes.Name) if one.ctx == "store"}
    imported = {str(one.target) for one in tree.find_all(nodes.Import)}
    return stored | imported | {one.name for one in tree.find_all(nodes.Macro)}


def ancestors(tree: nodes.Template) -> list[nodes.Template]:
    found = []
    while (parent := tree.find(nodes.Extends)) is not None:
        assert isinstance(parent.template, nodes.Const)
        tree = parsed(parent.template.value)
        found.append(tree)
    return found


def test_the_layout_shows_what_we_think_it_does() -> None:
    assert {"entities", "entity", "user", "network", "base", "here"} <= OF_THE_LAYOUT


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(LAYOUTS)))
def test_no_template_takes_a_name_of_the_layout(name: str) -> None:
    assert own_names(parsed(name)) & OF_THE_LAYOUT == set()


def test_every_table_sorts_filters_pages_and_exports() -> None:
    """All are made by `parts.table`, but the matrix and what has no address: a draft, a file, a choice.

    And the answer to "is it me?", the steps of a funnel, the measures of a role and how close an
    estimate is: a few lines each.
    """
    loader = environment().loader
    assert loader is not None
    own = {n for n in NAMES if "<table" in loader.get_source(environment(), n)[0]}

    assert own == {
        "parts.html",
        "funnel_parts.html",
        "health.html",
        "health_matrix.html",
        "health_subject.html",
        "level_parts.html",
        "level_report.html",
        "operator_levels.html",
        "operator_bulk.html",
        "operator_import.html",
        "registration_findings.html",
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_block_fills_one_of_its_layout(name: str) -> None:
    tree = parsed(name)
    above = ancestors(tree)
    blocks = {one.name for one in tree.find_all(nodes.Block)}
    known = {one.name for layout in above for one in layout.find_all(nodes.Block)}

    assert name in LAYOUTS or not above or blocks <= known
    assert isinstance(environment().get_template(name), jinja2.Template)


def test_a_page_that_shows_a_name_of_the_layout_is_refused() -> None:
    assert together({"entities": 1}, {"rows": 2}) == {"entities": 1, "rows": 2}
    with pytest.raises(RuntimeError, match="the layout shows entities already"):
        together({"entities": 1, "user": 2}, {"entities": 3})
