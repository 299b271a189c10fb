"""The metrics of a node's processes: shown together, kept for a place, and not on any disk."""

import subprocess
import sys
from pathlib import Path

NODE = """
import os, sys
from pathlib import Path
from mudra.bootstrap.observability.shared_metrics import SharedMetrics, use_places

folder = Path(sys.argv[1])
metrics = SharedMetrics(folder)
use_places()
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

done = Counter("done", "Done", ["what"])
room = Gauge("room", "Room", ["of"], multiprocess_mode="livemax")
metrics.add(["worker-0", "jobs"])

def run(place, room_left):
    child = os.fork()
    if not child:
        metrics.become(place)
        for number in range(500):
            done.labels(f"{place}-{number}").inc()
        room.labels(place).set(room_left)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

def shown(name):
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    return [line for line in generate_latest(registry).decode().splitlines() if line.startswith(name)]

done.labels("supervised").inc()
run("worker-0", 5)
run("jobs", 7)
print(shown("room"))
metrics.forget("worker-0")
run("worker-0", 6)
metrics.forget("jobs")
print(shown("room"))
ends = ('-0"', '-499"', 'supervised"')
print([line for line in shown("done_total") if any(one in line for one in ends)])
print(sum(one.lstat().st_blocks for one in folder.iterdir()))
"""


def test_counters_of_a_place_go_on_and_gauges_of_what_has_ended_do_not(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NODE, str(tmp_path)], capture_output=True, text=True, check=True
    )

    before, after, counters, blocks = map(eval, done.stdout.splitlines())
    assert sorted(before) == ['room{of="jobs"} 7.0', 'room{of="worker-0"} 5.0']
    assert after == ['room{of="worker-0"} 6.0']
    assert sorted(counters) == [
        'done_total{what="jobs-0"} 1.0',
        'done_total{what="jobs-499"} 1.0',
        'done_total{what="supervised"} 1.0',
        'done_total{what="worker-0-0"} 2.0',
        'done_total{what="worker-0-499"} 2.0',
    ]
    assert blocks == 0
