"""A body with one bad element is read in little memory, whatever its texts hold: a process of its own."""

import subprocess
import sys

import pytest
from tests.support.depth import with_every_change
from tests.support.until import PATIENCE_S

TEXTS = {
    "long": '"a" * SIZE',
    "escaped": r'"\\\"" * (SIZE // 2)',
    "halves": r'"\\ud800" * (SIZE // 6)',
    "backslashes": r'"\\\\" * (SIZE // 2)',
    "no escapes": r'"\\q" * (SIZE // 2)',
    "words": r"""'","b":[' + "x " * (SIZE // 2) + '],"c":"'""",
    "endless": r'"x\"" + "\\\"" * (SIZE // 2)',
}
MOST_MB = 120
"""What the read may add; a body has 8."""
PROGRAM = """
import resource
from tests.support.manual_clock import MovedClock
from mudra.agent.sources.http_event import read_events
from mudra.agent.sources.route import SourceContext
SIZE = 7_900_000
body = ('[{"callType":1},{"route":"' + %s + '"},{"a":\\\\ud800}]').encode()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_events(body, SourceContext(MovedClock()))
except ValueError:
    pass
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize(
    "text", with_every_change([TEXTS["halves"]], TEXTS.values()), ids=TEXTS.keys()
)
def test_a_text_of_eight_megabytes_costs_some_of_them(text: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM % text], capture_output=True, text=True, check=False,
        timeout=PATIENCE_S,
    )  # fmt: skip  # one group a line
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < MOST_MB
