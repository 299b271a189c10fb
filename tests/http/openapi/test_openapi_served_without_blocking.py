"""The OpenAPI document takes a second to make: others are answered meanwhile."""

import http.client
import select
from pathlib import Path

import httpx2
from tests.support.process import running_service
from tests.support.until import PATIENCE_S

FORMS = ("json", "yaml", "yml")


def test_others_are_answered_while_the_document_is_made(tmp_path: Path) -> None:
    with (
        running_service(tmp_path / "data") as service,
        httpx2.Client(base_url=service.root) as near,
    ):
        assert near.get("/livez").status_code == 200
        asking = [http.client.HTTPConnection(near.base_url.netloc.decode()) for _ in FORMS]
        for one, form in zip(asking, FORMS, strict=True):
            one.request("GET", f"/schema/openapi.{form}")
        waiting, answered = {one.sock: one for one in asking}, 0
        while waiting:
            assert near.get("/livez", timeout=PATIENCE_S).status_code == 200
            answered += 1
            for ready in select.select(list(waiting), [], [], 0)[0]:
                answer = waiting.pop(ready).getresponse()
                assert answer.status == 200
                assert "application/vnd.oai.openapi" in str(answer.headers["content-type"])

    # Where each is made in the event loop, one is answered before and one behind each, no more.
    assert answered > 3 * len(FORMS)
