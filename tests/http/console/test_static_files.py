"""The console's style and scripts: packed, kept by content, within 300 KB."""

import gzip
import hashlib
import re

import httpx2
import pytest
from tests.support.error_body import assert_error
from tests.support.http_clients import NO_TLS
from tests.support.service import Service

from mudra.console.framework.static_assets import STATIC, AssetStore

BUDGET = 300 * 1024
BUILT = STATIC / "built" / "charts.min.js"


def get(service: Service, path: str, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.get(f"{service.issuer}/static/{path}", headers=named, verify=NO_TLS)


def test_a_file_is_kept_for_a_year_under_the_digest_of_its_content(service: Service) -> None:
    page = httpx2.get(f"{service.root}/", verify=NO_TLS).text
    linked = re.search(r'href="[^"]*/static/(mudra\.css\?v=[0-9a-f]{16})"', page)
    assert linked is not None
    answer = get(service, linked[1])

    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert answer.text == (STATIC / "mudra.css").read_text()
    assert get(service, "mudra.css").headers["cache-control"] == "public, no-cache"
    assert get(service, "mudra.css?v=0000000000000000").headers["cache-control"].endswith("cache")


def test_a_file_that_the_browser_has_is_not_sent_again(service: Service) -> None:
    tag = get(service, "mudra.css").headers["etag"]
    again = get(service, "mudra.css", if_none_match=tag)

    assert (again.status_code, again.content) == (304, b"")
    assert get(service, "mudra.css", if_none_match=f'"other", {tag}').status_code == 304
    assert get(service, "mudra.css", if_none_match='"other"').status_code == 200


def test_it_is_packed_for_those_who_unpack(service: Service) -> None:
    packed = get(service, "mudra.css", accept_encoding="gzip, br")
    plain = get(service, "mudra.css", accept_encoding="identity")

    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) < len(plain.content) / 2


@pytest.mark.parametrize("path", ["iam/static/mudra.css", "status", "status/feed.atom"])
def test_who_refuses_gzip_gets_the_plain_form(service: Service, path: str) -> None:
    """Of files, pages and open data alike; without a form that is taken, the plain one."""

    def coding(accepted: str) -> str | None:
        headers = {"Accept-Encoding": accepted}
        found = httpx2.get(f"{service.root}/{path}", headers=headers, verify=NO_TLS)
        assert found.status_code == 200
        return found.headers.get("content-encoding")

    assert coding("gzip, identity;q=0") == "gzip"
    for accepted in ("gzip;q=0", "*;q=0", "identity;q=0", "identity, gzip;q=0.2"):
        assert coding(accepted) is None


@pytest.mark.parametrize(
    "name",
    ["absent.css", "", "../render.py", "%2e%2e/render.py", "built", "mudra.css/x", "built/x.js.gz"],
)
def test_nothing_but_the_static_files_can_be_named(service: Service, name: str) -> None:
    assert_error(get(service, name), 404, "NotFound")


def test_a_file_that_is_built_later_is_found_later(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("shelf")
    shelf = AssetStore(folder)
    assert shelf.address("late.js") == ""

    (folder / "late.js").write_text("1;")
    digest = hashlib.sha256(b"1;").hexdigest()[:16]
    assert shelf.address("late.js") == f"late.js?v={digest}"


@pytest.mark.skipif(not BUILT.exists(), reason="make assets could not reach the npm registry")
def test_all_style_and_script_take_300_kb_after_compression() -> None:
    shelf = AssetStore()
    names = [str(p.relative_to(STATIC)) for p in STATIC.rglob("*") if p.suffix in {".js", ".css"}]
    found = [one for name in names if (one := shelf.find(name)) is not None]
    sizes = {name: len(one.packed or one.body) for name, one in zip(names, found, strict=True)}

    assert "built/htmx.min.js" in sizes
    assert sum(sizes.values()) <= BUDGET, sizes
    for one in found:
        assert one.packed is None or gzip.decompress(one.packed) == one.body
