"""The number of good windows that ends a cause, and with it its incident.

Pages say it too: it is apart from the statistics, which only the jobs process loads.
"""

from typing import Final

CLOSE_AFTER: Final = 3
"""Good windows in a row that end a cause of calls."""
SILENT_CLOSE_AFTER: Final = 2
"""Windows with a report in time that end the silence of an AA."""
