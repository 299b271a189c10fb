"""The windows that end a cause, and with it its incident: good ones, or many that are even.

Pages say it too: it is apart from the statistics, which only the jobs process loads.
"""

from typing import Final

CLOSE_AFTER: Final = 3
"""Good windows in a row that end a cause of calls."""
CHANGES_AFTER: Final = 48
"""Windows (eight hours) after which a small excess at a FIP is a rate that changed for good: a
deployment. An outage is over by then, or larger."""
SMALL_FOR_GOOD: Final = 0.15
"""The largest such excess, as a share of the calls."""
SILENT_CLOSE_AFTER: Final = 2
"""Windows with a report in time that end the silence of an AA."""
