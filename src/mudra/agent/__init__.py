"""The monitoring agent: runs at an account aggregator, alone.

Counts calls, closes ten-minute windows, spools and pushes them. Knows the
payload types of mudra.metrics and nothing else of the service; it never keeps
a body or a customer's ID, and never waits for the operator before it answers
the AA's own systems.

One event, from socket to operator: `sources/` make it an `event.py` value;
`recorder.py` counts it (`count.py`, into `window.py` and `tally.py`; FI sessions
in `follow.py`) and has it in the journal of `spool.py` before it is answered;
when its window is due, `payload.py` makes the two payloads, `spool.py` keeps
them, and `push.py` delivers them by the decisions of `backoff.py` with a token
from `credentials.py`. `assembly.py` puts the parts together, `run.py` runs them.
"""
