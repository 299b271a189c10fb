"""One AA cannot take the places of the push from the others."""

import asyncio
from urllib.parse import urlsplit

from tests.support.metrics.metrics_push import PushingAa, pushing_aa
from tests.support.service import Service
from tests.support.until import until

SLOW_UPLOADS = 100
PUSHES = 15


async def trickle(port: int, token: str, over: asyncio.Event) -> bytes:
    """Announce a large body and send a few bytes of it now and then."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        b"POST /metrics/perf/v1/push HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        b"content-length: 1000000\r\nauthorization: Bearer " + token.encode() + b"\r\n\r\n{"
    )
    try:
        while not over.is_set() and not reader.at_eof():
            writer.write(b" " * 600)
            await writer.drain()
            await asyncio.sleep(0.2)
    except ConnectionError:
        pass  # the service has had enough of it
    finally:
        writer.close()
    return b""


async def pushes_next_to_slow_uploads(slow: PushingAa, other: PushingAa) -> list[int]:
    port = urlsplit(slow.service.root).port
    assert port is not None
    done = asyncio.Event()
    uploads = [asyncio.create_task(trickle(port, slow.token, done)) for _ in range(SLOW_UPLOADS)]
    await asyncio.sleep(1)  # all of them are at it
    bodies = [(await asyncio.to_thread(other.requests, None, seed=seed)) for seed in range(PUSHES)]
    statuses = []
    for body in bodies:
        answer = await asyncio.to_thread(other.push, body)
        statuses.append(answer.status_code)
    done.set()
    await asyncio.gather(*uploads)
    return statuses


def test_slow_uploads_of_one_aa_leave_the_places_of_the_others(service: Service) -> None:
    slow, other = pushing_aa(service), pushing_aa(service)

    statuses = asyncio.run(pushes_next_to_slow_uploads(slow, other))

    assert statuses == [200] * PUSHES
    # And its own places are free again when its uploads have ended.
    until(lambda: slow.push(slow.requests()).status_code == 200)
