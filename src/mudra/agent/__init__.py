"""The monitoring agent: runs at an account aggregator, on its own.

Counts calls, closes ten-minute windows, stores and pushes them. Of the service it
imports the payload types of mudra.metrics only, and it uses the client library
for its tokens. Never stores a body or a customer's ID, and never waits for the
operator before it answers the AA's own systems.

One event, from socket to operator: `host/ingest_app.py` receives it and a module of
`sources/` turns it into a value of `counting/event.py`; `spool/event_recorder.py`
counts it (`counting/counter.py`, into `window.py` and `tally.py`; FI sessions in
`fi_session_tracker.py`) and writes it to the journal of `spool/spool.py` before it
is answered. When its window is due, `counting/payload.py` makes the two payloads,
`spool/payload_files.py` stores them, and `delivery/pusher.py` sends them by the
decisions of `delivery/backoff.py` with a token from `delivery/credentials.py`.
`host/assembly.py` builds the parts, `host/run.py` runs them.
"""
