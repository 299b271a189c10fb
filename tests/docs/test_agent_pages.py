"""The pages for engineers who write or feed an agent: each sample is run, each table is the program's."""

import asyncio
import itertools
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.support.agent.running_agent import Running, running
from tests.support.documents.blocks import Block, blocks_of, text_of
from tests.support.members import new_member
from tests.support.service import Service
from tests.support.until import PATIENCE_S

from mudra.agent.sources.left_out import Reason
from mudra.agent.sources.logs.log_formats import FORMATS
from mudra.agent.sources.otlp_span import WANTED
from mudra.metrics.payload.catalogue import (
    NOTIFICATION_CALLS,
    NOTIFICATION_COUNT_NAMES,
    REQUEST_CALLS,
    REQUEST_COUNT_NAMES,
    STATUS_NAMES,
)
from mudra.metrics.payload.validation import CheckedReport, check_report

PAYLOADS = "docs/reference/metrics-payloads.md"
SOURCES = "docs/reference/agent-sources.md"
SOON_AFTER = datetime(2026, 11, 26, 10, 31, tzinfo=UTC)
ADDRESS = "http://127.0.0.1:4044"


def _rows(document: str, heading: str) -> list[list[str]]:
    """The rows of the first table behind a heading, without its own head."""
    text = text_of(document).partition(f"\n{heading}\n")[2]
    table = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert table is not None, heading
    lines = table[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_examples_of_the_payloads_are_taken_without_a_note() -> None:
    examples = [block for block in blocks_of(PAYLOADS) if block.kind == "json"]

    checked = [check_report(block.body.encode(), SOON_AFTER) for block in examples]

    assert len(checked) == 2
    assert [one.notes for one in checked if isinstance(one, CheckedReport)] == [(), ()]


def test_positions_and_calls_are_those_of_the_catalogue() -> None:
    counts = _rows(PAYLOADS, "## The 15 counts")
    assert [int(row[0]) for row in counts] == list(range(1, 16))
    for place, names in ((2, REQUEST_COUNT_NAMES), (3, NOTIFICATION_COUNT_NAMES)):
        assert tuple(row[place].split("`")[1] for row in counts) == names
    assert tuple(
        row[1].strip("`") for row in _rows(PAYLOADS, "- **`status`**, in this order:")
    ) == (STATUS_NAMES)
    for heading, calls in (
        ("## Request metrics (`req-fipMetrics-aa`)", REQUEST_CALLS),
        ("## Notification metrics (`not-fipMetrics-aa`)", NOTIFICATION_CALLS),
    ):
        text = text_of(PAYLOADS).partition(heading)[2]
        for code, call in calls.items():
            assert re.search(
                rf"^\| `{code}` \|.*`{call.method} {call.route}`", text, re.MULTILINE
            ), code


def test_the_sample_in_python_pushes_both_payloads(service: Service) -> None:
    aa = new_member(service, "AA")
    (sample,) = (block.body for block in blocks_of(PAYLOADS) if block.kind == "python")
    sample = sample.replace("time.time()", str(service.wall()))  # other tests have moved its clock
    names = {"ROOT": service.root, "AA_ID": aa.entity_id, "AA_SECRET": aa.secret()}

    for expected in ("accepted", "duplicate"):
        done = subprocess.run(
            [sys.executable, "-"], input=sample, text=True, capture_output=True, check=False,
            env={**os.environ, **names}, timeout=PATIENCE_S,
        )  # fmt: skip  # one group a line
        assert done.stdout.split() == [expected] * 2, done.stderr


async def _ran(agent: Running, block: Block) -> str:
    words = {"sh": ["bash", "-e"], "python": [sys.executable, "-"]}[block.kind]
    done = await asyncio.to_thread(
        subprocess.run, words, input=block.body.replace(ADDRESS, agent.address), text=True,
        capture_output=True, check=True, timeout=PATIENCE_S,
    )  # fmt: skip  # one group a line
    return done.stdout.strip()


def test_the_samples_of_the_sources_are_counted(tmp_path: Path) -> None:
    async def story() -> None:
        blocks = blocks_of(SOURCES)
        (fips,) = (block.body for block in blocks if block.kind == "toml")
        async with running(tmp_path, fips.removeprefix("[fips]\n")) as agent:
            before = await agent.counted()
            for block, printed in itertools.pairwise(blocks):
                if block.kind in {"sh", "python"}:
                    assert printed.kind == "text"
                    assert await _ran(agent, block) == printed.body.strip()
            # Two calls with both halves, one span, and two calls of the library.
            assert await agent.counted() - before == 4 + 1 + 4
            text = (await agent.http.get("/metrics")).text
            left = re.findall(r'events_not_counted_total\{reason="(\w+)"\} ([1-9]\S*)', text)
            assert left == []

    asyncio.run(story())


def test_fields_attributes_and_reasons_are_those_that_are_read() -> None:
    page = text_of(SOURCES)
    assert [name for name in WANTED if f"`{name}`" not in page] == []
    reasons = {
        name for row in _rows(SOURCES, "## What is not counted") for name in row[0].split("`")
    }
    assert {reason.value for reason in Reason} <= reasons
    rows = {row[0].split("`")[1]: row[1:] for row in _rows(SOURCES, "## Access logs")[:11]}
    for name, cells in rows.items():
        if name == "fip":
            continue
        for kind, cell in zip(FORMATS, cells, strict=True):
            field = getattr(FORMATS[kind], name)
            if field and cell.startswith("`"):
                assert cell.startswith(f"`{field}`"), (kind, name)
            else:
                assert not field or kind == "apigee", (kind, name)


@pytest.mark.parametrize("kind", ["json"])
def test_the_format_of_apigee_is_one_line_of_json_with_its_fields(kind: str) -> None:
    (block,) = (one for one in blocks_of(SOURCES) if one.kind == kind)
    fields = FORMATS["apigee"]
    names = {fields.time, fields.answered, fields.method, fields.path, fields.host}
    assert names | {fields.status, fields.size} == set(json.loads(block.body))
