"""JUnit XML as CI systems read it: a suite for each part, a case for each check."""

import xml.etree.ElementTree as ET  # written, never read
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from mudra.conformance.result import Report, Result, Verdict

_DECLARATION: Final = b'<?xml version="1.0" encoding="UTF-8"?>\n'


def junit(report: Report) -> bytes:
    """Return the document, UTF-8."""
    root = ET.Element("testsuites", {"name": "mudra conformance", **_counts(report.results)})
    ordered = sorted(report.results, key=lambda one: one.part)
    for part, found in groupby(ordered, key=lambda one: one.part):
        results = list(found)
        suite = ET.SubElement(
            root,
            "testsuite",
            {"name": f"part {part}", "timestamp": report.started_at, **_counts(results)},
        )
        for result in results:
            _add_case(suite, result)
    return _DECLARATION + ET.tostring(root, "unicode").encode()


def _counts(results: Sequence[Result]) -> dict[str, str]:
    return {
        "tests": str(len(results)),
        "failures": str(sum(one.verdict is Verdict.FAILED for one in results)),
        "skipped": str(sum(one.verdict is Verdict.SKIPPED for one in results)),
        "errors": "0",
        "time": f"{sum(one.seconds for one in results):.3f}",
    }


def _add_case(suite: ET.Element, result: Result) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        {
            "classname": f"conformance.{result.part}",
            "name": f"{result.check_id} {result.title}",
            "time": f"{result.seconds:.3f}",
        },
    )
    if result.verdict is Verdict.FAILED:
        message = f"expected: {result.expected}; came: {result.came}"
        failure = ET.SubElement(case, "failure", {"message": message, "type": result.basis.value})
        failure.text = f"{message}\n{result.request}\n{result.basis}: {result.line}"
    elif result.verdict is Verdict.SKIPPED:
        ET.SubElement(case, "skipped", {"message": result.reason})
