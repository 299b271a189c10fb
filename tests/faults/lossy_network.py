"""A network of its own to a database, whose router can begin to lose every packet in silence.

Two network namespaces of Linux: a router, and a machine on which something listens. Lost packets get
no reset and no message of the router, unlike a closed port. Only root may make them.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from tests.support.programs import program
from tests.support.until import until

ROOT = Path(__file__).parents[2]
PORT = 5432
_RELAY = """
import asyncio, sys
async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
async def meet(reader, writer):
    near = await asyncio.open_unix_connection(sys.argv[3])
    await asyncio.gather(copy(reader, near[1]), copy(near[0], writer))
async def main():
    server = await asyncio.start_server(meet, sys.argv[1], int(sys.argv[2]))
    await server.serve_forever()
asyncio.run(main())
"""


@dataclass(frozen=True)
class LossyNetwork:
    """The way to the machine behind the router."""

    name: str
    here: str
    there: str

    def lose(self) -> None:
        """Lose every packet from now on, in both directions."""
        for address in (self.here, self.there):
            _ip("-n", f"{self.name}r", "route", "add", "blackhole", f"{address}/32")

    def heal(self) -> None:
        """Forward packets again."""
        for address in (self.here, self.there):
            _ip("-n", f"{self.name}r", "route", "del", "blackhole", f"{address}/32")

    @contextlib.contextmanager
    def leading_to(self, url: str) -> Iterator[str]:
        """Make the database that listens on a socket's file answer there; gives its address."""
        known = psycopg.conninfo.conninfo_to_dict(url)
        file = f"{known['host']}/.s.PGSQL.{known['port']}"
        process = subprocess.Popen(
            [
                *("ip", "netns", "exec", f"{self.name}m", sys.executable, "-c", _RELAY),
                *(self.there, str(PORT), file),
            ]
        )
        address = f"postgresql://{known['user']}@{self.there}:{PORT}/{known['dbname']}"
        try:
            _wait_for(address)
            yield address
        finally:
            process.kill()
            process.wait(20)


@contextlib.contextmanager
def lossy_network() -> Iterator[LossyNetwork]:
    """Make the network until the end of the block; a test is skipped that may not."""
    program("ip")
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    number = os.getpid() % 250
    name = f"mdr{os.getpid()}"
    net = f"10.251.{number}"
    network = LossyNetwork(name, f"{net}.1", f"{net}.5")
    router, machine = f"{name}r", f"{name}m"
    try:
        for one in (router, machine):
            made = _ip("netns", "add", one, check=False)
            if made.returncode:
                pytest.skip(f"no network namespaces here: {made.stderr.strip()}")
        for words in (
            f"link add name {name}a type veth peer name near netns {router}",
            f"-n {router} link add name far type veth peer name own netns {machine}",
            f"addr add {net}.1/30 dev {name}a",
            f"-n {router} addr add {net}.2/30 dev near",
            f"-n {router} addr add {net}.6/30 dev far",
            f"-n {machine} addr add {net}.5/30 dev own",
            f"link set {name}a up",
            f"-n {router} link set near up",
            f"-n {router} link set far up",
            f"-n {machine} link set own up",
            f"-n {machine} link set lo up",
            f"-n {machine} route add default via {net}.6",
            f"route add {net}.4/30 via {net}.2",
            f"netns exec {router} sh -c",
        ):
            forward = ["echo 1 > /proc/sys/net/ipv4/ip_forward"] if words.endswith("-c") else []
            _ip(*words.split(), *forward)
        yield network
    finally:
        # The ends of its cables go with the namespaces, and with those the route.
        for one in (router, machine):
            _ip("netns", "del", one, check=False)


def _wait_for(address: str) -> None:
    def is_reached() -> bool:
        with (
            contextlib.suppress(psycopg.OperationalError),
            psycopg.connect(address, connect_timeout=2),
        ):
            return True
        return False

    until(is_reached)


def _ip(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(["ip", *words], check=False, capture_output=True, text=True, timeout=60)
    assert not check or done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
    return done
