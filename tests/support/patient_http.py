"""HTTP clients of tests wait as long as anything is waited for, and not the 5 seconds of httpx2.

A loaded machine takes longer than those to answer, and nothing is wrong. A test of a client's own
patience says how long it waits.
"""

from httpx2 import _config
from tests.support.until import PATIENCE_S


def install() -> None:
    """Let the clients of this process that are given no time wait so long."""
    usual = _config.DEFAULT_TIMEOUT_CONFIG
    usual.connect = usual.read = usual.write = usual.pool = PATIENCE_S
