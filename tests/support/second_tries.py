"""Why tests were tried again: a run that is green at the second try still says what was red."""

import pytest

_SHOWN = 1500
"""Characters of each."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the end of what each of them failed with."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"tried again: {report.nodeid}", sep="-")
        terminalreporter.write_line(report.longreprtext[-_SHOWN:])
