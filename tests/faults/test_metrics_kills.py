"""kill -9 of workers, jobs, database and service during pushes: nothing lost, nothing double."""

import os
import random
import signal
import threading
import time
import uuid
from collections import Counter

import httpx2
import psycopg
import pytest
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.metrics.stored_blocks import stored_blocks
from tests.support.process import running_service
from tests.support.processes import forked_by

from mudra.metrics.payload.catalogue import WINDOW
from mudra.storage.database.embedded.server import embedded_server

AAS = 3
KILLS = int(os.environ.get("MUDRA_PUSH_KILLS", "8"))
"""Of which every eighth is of the database; 24 and more before a release."""
WINDOWS = 3 * KILLS


class Pusher(threading.Thread):
    """Pushes each window of an AA until it is acknowledged, as an agent does."""

    def __init__(self, aa):
        super().__init__(daemon=True)
        self.aa = aa
        # Of its own: the service's stop closes those that it gave.
        aa.client = httpx2.Client(base_url=aa.service.issuer, timeout=30)
        last = aa.last_window()
        windows = [last - place * WINDOW for place in range(WINDOWS)]
        self.payloads = [aa.requests(window, seed=place) for place, window in enumerate(windows)]
        self.payloads += [
            aa.notifications(window, seed=place) for place, window in enumerate(windows)
        ]
        random.Random(7).shuffle(self.payloads)
        self.acknowledged = {}
        self.outcomes = Counter()

    def run(self):
        for payload in self.payloads:
            while payload.txn_id not in self.acknowledged:
                try:
                    answer = self.aa.push(payload)
                except httpx2.TransportError as error:
                    self.outcomes[type(error).__name__] += 1
                    time.sleep(0.1)
                    continue
                self.outcomes[answer.status_code] += 1
                if answer.status_code == 200:
                    self.acknowledged[payload.txn_id] = answer.json()
                else:
                    assert answer.status_code in {429, 503}, answer.text
                    time.sleep(0.2)
            time.sleep(0.12)


def postmaster(data_dir):
    (pid_file,) = data_dir.rglob("postmaster.pid")
    return int(pid_file.read_text().splitlines()[0])


@pytest.mark.slow
def test_what_was_acknowledged_is_there_exactly_once_after_many_kills(tmp_path):
    data_dir = tmp_path / "data"
    dice = random.Random(11)
    killed = 0
    with running_service(data_dir, "--workers", "2") as service:
        port = int(service.root.rpartition(":")[2])
        pushers = [Pusher(pushing_aa(service)) for _ in range(AAS)]
        for pusher in pushers:
            pusher.start()
        while killed < KILLS and any(pusher.is_alive() for pusher in pushers):
            time.sleep(dice.uniform(0.2, 1.2))
            targets = list(forked_by(service.process.pid).values())
            if killed % 8 == 4:
                targets = [postmaster(data_dir)]
            if targets:
                os.kill(dice.choice(targets), signal.SIGKILL)
                killed += 1
        service.process.kill()
        service.process.wait()
    with running_service(data_dir, "--workers", "2", port=port):
        for pusher in pushers:
            pusher.join(90)
            assert not pusher.is_alive()
    assert killed == KILLS
    with embedded_server(data_dir) as conninfo, psycopg.connect(conninfo) as connection:
        for pusher in pushers:
            assert len(pusher.acknowledged) == len(pusher.payloads)
            assert_stored_once(connection, pusher)


def assert_stored_once(connection, pusher):
    expected = Counter()
    for payload in pusher.payloads:
        for fip in payload.fips:
            for block in fip.metrics:
                expected[(fip.fip_id, block.type, payload.from_date_time)] += block.counts[0]
    found = Counter()
    for one in stored_blocks(connection, [pusher.aa.aa_id]):
        # cnot is a type of both payloads: the key holds both.
        found[(one.fip_id, one.block.type, one.window)] += one.calls
    assert found == expected
    receipts = {
        str(receipt_id)
        for (receipt_id,) in connection.execute(
            "SELECT receipt_id FROM metrics_receipt WHERE aa_id = %s", [pusher.aa.aa_id]
        )
    }
    assert receipts == {body["receiptId"] for body in pusher.acknowledged.values()}
    assert all(uuid.UUID(receipt) for receipt in receipts)
