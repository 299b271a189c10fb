"""Sends hostile requests on four connections, from a process of its own, until it is killed.

    python -m bench.hostile_load PORT FILE PAUSE_MS

FILE is a pickle of the requests. Each answer is awaited; a line for each round goes to stdout.
"""

import asyncio
import contextlib
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

CONNECTIONS = 4
ANSWER_S = 10.0


async def send_all(port: int, requests: Sequence[bytes], first: int, pause_s: float) -> None:
    """Send each once, beginning with another one on each connection."""
    reader = writer = None
    for place in range(len(requests)):
        request = requests[(first + place) % len(requests)]
        if writer is None or writer.is_closing():
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert reader is not None
        try:
            writer.write(request)
            await writer.drain()
            stays = await asyncio.wait_for(answered(reader), ANSWER_S)
        except (ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            stays = False  # refused before its end, or it waits behind the others of its kind
        if not stays:
            writer.close()
            writer = None
        await asyncio.sleep(pause_s)
    if writer is not None:
        writer.close()


async def answered(reader: asyncio.StreamReader) -> bool:
    """Read one answer; False when the connection ends with it."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"\r\ncontent-length: ")[2].partition(b"\r\n")[0]
    if not length:
        await reader.read()
        return False
    await reader.readexactly(int(length))
    return b"\r\nconnection: close" not in head


async def rounds(port: int, requests: Sequence[bytes], pause_s: float) -> None:
    while True:
        step = max(1, len(requests) // CONNECTIONS)
        await asyncio.gather(
            *(send_all(port, requests, n * step, pause_s) for n in range(CONNECTIONS))
        )
        sys.stdout.write("round\n")
        sys.stdout.flush()


@contextlib.contextmanager
def attack(
    port: int, requests: Sequence[bytes], pause_s: float
) -> Iterator["subprocess.Popen[bytes]"]:
    """Attack for the length of the block; each line that it writes is a round of all requests."""
    with tempfile.NamedTemporaryFile() as file:
        pickle.dump(list(requests), file)
        file.flush()
        command = [sys.executable, "-m", "bench.hostile_load"]
        process = subprocess.Popen(
            [*command, str(port), file.name, str(pause_s * 1000)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[1],
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


if __name__ == "__main__":
    os.nice(5)
    asyncio.run(
        rounds(
            int(sys.argv[1]),
            pickle.loads(Path(sys.argv[2]).read_bytes()),
            float(sys.argv[3]) / 1000,
        )
    )
