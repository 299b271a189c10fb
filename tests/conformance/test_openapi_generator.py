"""Clients that openapi-generator makes of the OpenAPI document work against a real service.

For Java, Python, TypeScript and Go. The generator is a jar in a PyPI package; for Java it holds all
that the client imports but Apache HttpMime, which is Debian's. Slow: each has 300 classes.
"""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import httpx2
import msgspec
import pytest
from tests.support.members import new_member
from tests.support.metrics.metrics_payloads import request_metrics
from tests.support.programs import program
from tests.support.registry.registry_members import Registry, payload_of
from tests.support.service import Service

from mudra.metrics.payload.catalogue import WINDOW, window_start

HERE = Path(__file__).parent
USES = HERE / "generator"
NODE = Path(sys.executable).with_name("node")
TYPESCRIPT = HERE / "node" / "node_modules" / "typescript" / "bin" / "tsc"
FORMS = {"UserTokenRequest", "EntityTokenRequest", "OAuthPresentedToken", "OAuthTokenRequest"}
"""The generator makes each of their fields a parameter of the call."""
# Of the JDK until Java 10.
GENERATED = (
    "package javax.annotation; "
    'public @interface Generated { String[] value(); String comments() default ""; }'
)
AT_MOST_S = 400

pytestmark = pytest.mark.slow


def run(
    *command: str | Path, sent: bytes = b"", place: Path | None = None, **settings: str
) -> bytes:
    done = subprocess.run(
        command, input=sent, capture_output=True, timeout=AT_MOST_S, check=False, cwd=place,
        env={**os.environ, **settings},
    )  # fmt: skip  # one group a line
    assert done.returncode == 0, (done.stdout[-2000:] + done.stderr[-2000:]).decode()
    return done.stdout


@pytest.fixture(scope="module")
def document(own: Service, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("openapi") / "openapi.json"
    file.write_bytes(httpx2.get(f"{own.root}/schema/openapi.json", timeout=60).content)
    return file


def generated(document: Path, language: str, to: Path, **options: str) -> Path:
    """Returns where the client is. No mapping of a type is needed, and no class is of no schema."""
    jar = program("openapi-generator")
    properties = ",".join(f"{name}={value}" for name, value in options.items())
    run(
        *("java", "-Xmx700m", "-jar", jar, "generate", "-g", language, "-i", document, "-o", to),
        *(("--additional-properties", properties) if options else ()),
    )
    assert [one for one in to.rglob("*") if "anyof" in one.name.lower()] == []
    return to


@pytest.fixture(scope="module")
def classes(document: Path) -> str:
    """The class path of the Java client, generated and compiled."""
    program("java")
    place = document.with_name("java")
    client = generated(
        document, "java", place / "client", library="native", hideGenerationTimestamp="true",
        openApiNullable="false", supportUrlQuery="false",
    )  # fmt: skip  # one group a line
    source = client / "src" / "main" / "java"
    (source / "javax" / "annotation").mkdir(parents=True)
    (source / "javax" / "annotation" / "Generated.java").write_text(GENERATED)
    jar, mime = program("openapi-generator"), Path(program("httpmime"))
    path = os.pathsep.join(map(str, (place / "classes", jar, mime, mime.with_name("httpcore.jar"))))
    sources = [*sorted(source.rglob("*.java")), USES / "UseClient.java"]
    options = ("-J-Xmx700m", "-proc:none", "-nowarn", "-d", place / "classes", "-cp", path)
    run("javac", *options, *sources)
    return path


def test_each_struct_is_a_class_of_java(classes: str, document: Path) -> None:
    compiled = {one.stem for one in Path(classes.partition(os.pathsep)[0]).rglob("*.class")}
    schemas = json.loads(document.read_text())["components"]["schemas"]

    assert schemas.keys() - compiled == FORMS


def in_java(document: Path, sent: bytes, request: pytest.FixtureRequest) -> bytes:
    del document  # the fixture's
    return run("java", "-cp", request.getfixturevalue("classes"), "UseClient", sent=sent)


def in_python(document: Path, sent: bytes, request: pytest.FixtureRequest) -> bytes:
    del request
    python = program("openapi-clients")
    client = generated(document, "python", document.with_name("python"))
    return run(python, USES / "use_client.py", client, sent=sent)


def in_typescript(document: Path, sent: bytes, request: pytest.FixtureRequest) -> bytes:
    del request
    program("node-packages")
    place = document.with_name("typescript")
    generated(document, "typescript-fetch", place / "client")
    (place / "use_client.ts").write_text((USES / "use_client.ts").read_text())
    options = ("--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom")
    run(NODE, TYPESCRIPT, *options, place / "use_client.ts")
    return run(NODE, place / "use_client.js", sent=sent)


def in_go(document: Path, sent: bytes, request: pytest.FixtureRequest) -> bytes:
    """Words of two lists may be equal, and Go has one space of names for both: hence the prefix."""
    del request
    go, library = program("go"), Path(program("validator")).parents[2]
    place = document.with_name("go")
    generated(document, "go", place / "src" / "mudra", enumClassPrefix="true")
    (place / "use_client.go").write_text((USES / "use_client.go").read_text())
    paths = {"GOPATH": f"{place}:{library.parent}", "GOCACHE": str(place / "cache")}
    words = ("build", "-o", "use_client", "use_client.go")
    run(go, *words, place=place, GO111MODULE="off", **paths)
    return run(place / "use_client", sent=sent)


@pytest.mark.parametrize("use", [in_java, in_python, in_typescript, in_go])
def test_it_gets_a_token_pushes_registers_and_reads(
    use: Callable[[Path, bytes, pytest.FixtureRequest], bytes],
    own: Service, document: Path, request: pytest.FixtureRequest,
) -> None:  # fmt: skip  # one group a line
    program("java")
    aa = new_member(own, "AA")
    registry = Registry(aa)
    start = window_start(own.advance("PT0S")) - WINDOW
    asked = {
        "root": own.root,
        "entityId": aa.entity_id,
        "secret": registry.secret,
        "push": request_metrics(fips=2, aa_id=aa.entity_id, txn_id=str(uuid.uuid4()), start=start),
        "entry": payload_of(aa),
    }

    seen = json.loads(use(document, msgspec.json.encode(asked), request))

    assert seen == {
        "expiresIn": 86_400,
        "pushed": "accepted",
        "read": 0,
        "refused": 401,
        "registered": "submitted",
    }
