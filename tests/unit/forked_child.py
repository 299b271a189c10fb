"""A child of this process by fork, as servers make their workers."""

import os
from collections.abc import Callable


def says_yes(act: Callable[[], bool]) -> bool:
    """Act in a forked process; give what the act says there, False when it fails."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if act() else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
