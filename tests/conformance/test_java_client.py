"""A Java client generated from the OpenAPI document has a class for each struct, and they compile.

It takes the generator's jar, which the PyPI package `openapi-generator-cli` holds, and a JDK:
    pip install --target /tmp/generator openapi-generator-cli
    OPENAPI_GENERATOR_JAR=/tmp/generator/openapi_generator_cli/openapi-generator.jar \\
        .venv/bin/pytest tests/conformance/test_java_client.py
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from mudra.bootstrap.config import Settings
from mudra.http.app import _litestar
from mudra.http.openapi.document import _made

JAR = os.environ.get("OPENAPI_GENERATOR_JAR", "")
SENT_AS_PARAMETERS = {"UserTokenRequest", "EntityTokenRequest"}
"""Forms: the generator makes each field a parameter of the call."""
pytestmark = pytest.mark.skipif(
    not JAR or shutil.which("javac") is None, reason="no generator's jar, or no JDK"
)


def run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def document() -> bytes:
    service = SimpleNamespace(settings=Settings(), time_machine=object(), clock=None)
    return _made(_litestar(service, ())).json  # type: ignore[arg-type]  # only its routes


def test_each_struct_is_a_class_and_the_client_compiles(tmp_path: Path):
    own_document = document()
    file = tmp_path / "openapi.json"
    file.write_bytes(own_document)
    schemas = json.loads(own_document)["components"]["schemas"]
    # Fields of a registration that may be empty in several forms (decisions part 4).
    lenient = ",".join(
        f"{schema}_{name}{suffix}=Object"
        for schema, written in schemas.items()
        for name, field in written.get("properties", {}).items()
        if schema.startswith("Submitted") and "anyOf" in field
        for suffix in ("", "_anyOf")
    )
    options = "hideGenerationTimestamp=true,openApiNullable=false,supportUrlQuery=false"
    run(
        *("java", "-Xmx700m", "-jar", JAR, "generate", "-g", "java", "--library", "native"),
        *("-i", file, "-o", tmp_path / "client", "--additional-properties", options),
        *("--schema-mappings", lenient, "--type-mappings", "AnyOf=String"),
        *("--import-mappings", "AnyOf=java.lang.String"),
    )
    # Of the JDK until Java 10; the generator's jar has all else that the client imports.
    annotation = tmp_path / "client/src/main/java/javax/annotation/Generated.java"
    annotation.parent.mkdir(parents=True)
    annotation.write_text(
        "package javax.annotation; "
        'public @interface Generated { String[] value(); String comments() default ""; }'
    )
    # The class of the calls imports Apache HttpMime, which no registry here has.
    found = sorted((tmp_path / "client/src/main/java").rglob("*.java"))
    sources = [one for one in found if one.parent.name != "api"]

    run("javac", "-J-Xmx600m", "-proc:none", "-d", tmp_path / "classes", "-cp", JAR, *sources)

    compiled = {one.stem for one in (tmp_path / "classes").rglob("*.class")}
    assert schemas.keys() - compiled == SENT_AS_PARAMETERS
