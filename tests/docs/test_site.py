"""The documentation's pages are complete, and the service serves its site."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.support.http_clients import NO_TLS
from tests.support.service import Service

from mudra.console.framework import static_assets
from mudra.shared.refusal import ErrorCode

DOCS = Path(__file__).parents[2] / "docs"


def test_each_error_code_has_its_cause_and_its_way_out() -> None:
    page = (DOCS / "reference" / "errors.md").read_text().partition("\n## OAuth\n")[0]
    rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)

    assert sorted(rows) == sorted(ErrorCode)


def get(service: Service, path: str, **headers: str) -> httpx2.Response:
    return httpx2.get(f"{service.root}{path}", headers=headers, verify=NO_TLS)


@pytest.mark.skipif(not (static_assets.SITE / "index.html").exists(), reason="no site was built")
def test_the_service_serves_its_documentation(service: Service) -> None:
    start = get(service, "/docs")
    page = get(service, "/docs/reference/errors.html")
    search = get(service, "/docs/search/search_index.json")
    again = get(service, "/docs/reference/errors.html", **{"If-None-Match": page.headers["etag"]})
    lost = get(service, "/docs/reference/no-such-page.html")

    assert (start.status_code, start.headers["location"]) == (307, "/docs/index.html")
    assert (page.status_code, search.status_code, again.status_code) == (200, 200, 304)
    assert "SecretGraceEnded" in page.text.replace("<wbr>", "")
    policy = page.headers["content-security-policy"]
    assert "'sha256-" in policy
    assert "'unsafe-inline'" not in policy.partition("style-src")[0]
    assert lost.status_code == 404
    # No request leaves the host.
    assert not re.findall(r'(?:src|href)="https?://', page.text)


@pytest.mark.parametrize(
    "name", ["../static/mudra.css", "..%2fstatic%2fmudra.css", "index.html.gz"]
)
def test_nothing_but_the_site_can_be_named(service: Service, name: str) -> None:
    assert get(service, f"/docs/{name}").status_code == 404


def test_each_operation_has_its_group(service: Service) -> None:
    document = get(service, "/schema/openapi.json").json()

    assert {
        tag
        for operations in document["paths"].values()
        for operation in operations.values()
        for tag in operation.get("tags", ["none"])
    } == {
        "Tokens",
        "OAuth",
        "People",
        "Registry",
        "Network metrics",
        "Network metrics for operators",
        "Public status",
        "Operators",
        "Sandbox",
    }


def links_of(page: Path) -> Iterator[Path]:
    for found in re.finditer(r"\]\(([^)#\s:]+\.md)", page.read_text(encoding="utf-8")):
        yield (page.parent / found[1]).resolve()


def test_each_page_is_three_links_away_at_most() -> None:
    """From the first page, without the menu; runbooks are named by their alarms."""
    near = {DOCS / "README.md"}
    for _ in range(3):
        near |= {linked for page in near if page.is_relative_to(DOCS) for linked in links_of(page)}
    far = [page.relative_to(DOCS) for page in DOCS.rglob("*.md") if page not in near]

    assert [
        page for page in far if page.parts[0] != "decisions" and "runbooks" not in page.parts
    ] == []


def test_the_first_page_has_five_lines_for_each_reader() -> None:
    _, *readers = (DOCS / "README.md").read_text(encoding="utf-8").split("\n## ")

    assert {one.splitlines()[0]: one.count("\n* ") for one in readers} == dict.fromkeys(
        [
            *("Engineers of a member", "Operations of an AA"),
            *(
                "Admins of a member, operations of a FIP",
                "Operators of the network",
                "Contributors",
            ),
        ],
        5,
    )
