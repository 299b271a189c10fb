"""A real agent process in real time, and a client of it; its operator is not there."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from tests.support.agent.agent_process import configured, free_port, started
from tests.support.http_clients import NO_TLS
from tests.support.until import PATIENCE_S


class Running:
    """An agent process and a client of it."""

    def __init__(self, pid: int, address: str, http: httpx2.AsyncClient) -> None:
        self.pid, self.address, self.http = pid, address, http
        self.port = int(address.rpartition(":")[2])

    async def counted(self, name: str = "mudra_agent_events_total") -> int:
        text = (await self.http.get("/metrics")).text
        line = next(one for one in text.splitlines() if one.startswith(name))
        return int(float(line.rpartition(" ")[2]))

    async def raw(self, sent: bytes) -> bytes:
        """The answer to these bytes, until the agent ends the connection or a whole answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(sent)
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
        length = re.search(rb"content-length: (\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else b""
        writer.close()
        return head + body


@asynccontextmanager
async def running(
    directory: Path, fips: str = '"fip-one.example" = "FIP-ONE"', *, forked: bool = True
) -> AsyncIterator[Running]:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    config = configured(directory, "http://127.0.0.1:9", port)
    with config.open("a") as file:
        file.write(f"[fips]\n{fips}\n")
    now = time.time()
    process = await started(config, now, address, speed=1, start=int(now * 1000), forked=forked)
    try:
        async with httpx2.AsyncClient(base_url=address, verify=NO_TLS) as http:
            yield Running(process.pid, address, http)
    finally:
        process.send_signal(9)
        await process.wait()
