"""A Java client that openapi-generator makes from the OpenAPI document works against a real service.

The generator is a jar in a PyPI package; it holds all that the client imports but Apache HttpMime,
which is Debian's. Slow: it generates and compiles 300 classes.
"""

import json
import os
import subprocess
import uuid
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

HERE = Path(__file__).parent / "java"
SENT_AS_PARAMETERS = {"UserTokenRequest", "EntityTokenRequest"}
"""Forms: the generator makes each field a parameter of the call."""
OPTIONS = "hideGenerationTimestamp=true,openApiNullable=false,supportUrlQuery=false"
# Of the JDK until Java 10.
GENERATED = (
    "package javax.annotation; "
    'public @interface Generated { String[] value(); String comments() default ""; }'
)

pytestmark = pytest.mark.slow


def run(*command: str | Path, sent: bytes = b"") -> bytes:
    done = subprocess.run(command, input=sent, capture_output=True, timeout=400, check=False)
    assert done.returncode == 0, (done.stdout[-2000:] + done.stderr[-2000:]).decode()
    return done.stdout


@pytest.fixture(scope="module")
def jar() -> Path:
    """The generator's jar, as the lock file names it."""
    program("java")
    return Path(program("openapi-generator"))


@pytest.fixture(scope="module")
def schemas(own: Service) -> dict[str, dict[str, dict[str, object]]]:
    document = httpx2.get(f"{own.root}/schema/openapi.json").json()
    found: dict[str, dict[str, dict[str, object]]] = document["components"]["schemas"]
    return found


@pytest.fixture(scope="module")
def classes(
    own: Service, jar: Path, schemas: dict[str, dict[str, dict[str, object]]], tmp_path_factory
) -> str:
    """The class path of the client, generated and compiled."""
    place = tmp_path_factory.mktemp("java")
    file = place / "openapi.json"
    file.write_bytes(httpx2.get(f"{own.root}/schema/openapi.json").content)
    # Fields of a registration that may be empty in several forms.
    lenient = ",".join(
        f"{schema}_{name}{suffix}=Object"
        for schema, written in schemas.items()
        for name, field in written.get("properties", {}).items()
        if schema.startswith("Submitted") and "anyOf" in field
        for suffix in ("", "_anyOf")
    )
    run(
        *("java", "-Xmx700m", "-jar", jar, "generate", "-g", "java", "--library", "native"),
        *("-i", file, "-o", place / "client", "--additional-properties", OPTIONS),
        *("--schema-mappings", lenient, "--type-mappings", "AnyOf=String"),
        *("--import-mappings", "AnyOf=java.lang.String"),
    )
    source = place / "client" / "src" / "main" / "java"
    (source / "javax" / "annotation").mkdir(parents=True)
    (source / "javax" / "annotation" / "Generated.java").write_text(GENERATED)
    mime = Path(program("httpmime"))
    path = os.pathsep.join(map(str, (place / "classes", jar, mime, mime.with_name("httpcore.jar"))))
    sources = [*sorted(source.rglob("*.java")), HERE / "UseClient.java"]
    options = ("-J-Xmx700m", "-proc:none", "-nowarn", "-d", place / "classes", "-cp", path)
    run("javac", *options, *sources)
    return path


def test_each_struct_is_a_class(
    classes: str, schemas: dict[str, dict[str, dict[str, object]]]
) -> None:
    compiled = {one.stem for one in Path(classes.partition(os.pathsep)[0]).rglob("*.class")}

    assert schemas.keys() - compiled == SENT_AS_PARAMETERS


def test_it_gets_a_token_pushes_registers_and_reads(own: Service, classes: str) -> None:
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

    seen = json.loads(run("java", "-cp", classes, "UseClient", sent=msgspec.json.encode(asked)))

    assert seen == {
        "expiresIn": 86_400,
        "pushed": "accepted",
        "read": 0,
        "refused": 401,
        "registered": "submitted",
    }
