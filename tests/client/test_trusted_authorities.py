"""Whose certificates are trusted: those of the operating system, or of SSL_CERT_FILE in its place."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.smtp_sink import make_certificate
from tests.support.until import PATIENCE_S
from tests.support.webhook_sink import webhook_sink

CALLS = {
    "the client library": """
from contextlib import suppress
from mudra.client import EntityTokenSource, MudraClientError
with suppress(MudraClientError):
    EntityTokenSource(url, "SAARTHI-AA", lambda: "secret").token()
""",
    "a webhook": """
import asyncio
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.webhook.reach import Reach
from mudra.webhook.send import post
asyncio.run(post(url, b"{}", {}, Reach(AddressPolicy(allow_private=True))))
""",
    "single sign-on": """
import asyncio
from contextlib import suppress
from mudra.openid.provider import ProviderUnreachable, get_object
with suppress(ProviderUnreachable):
    asyncio.run(get_object(url))
""",
}


@pytest.mark.parametrize("caller", CALLS)
def test_a_private_authority_is_trusted_that_ssl_cert_file_names(
    tmp_path: Path, caller: str
) -> None:
    certificate = make_certificate(tmp_path)
    with webhook_sink(tls=certificate.context()) as sink:
        for named in ("", str(certificate.cert)):
            subprocess.run(
                [sys.executable, "-c", f"url = {sink.url!r}\n{CALLS[caller]}"],
                env={**os.environ, "SSL_CERT_FILE": named}, check=True, timeout=PATIENCE_S,
            )  # fmt: skip

            assert bool(sink.posted) is bool(named)
