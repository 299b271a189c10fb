"""A network's service as the suite meets it: where it is, and the sessions that checks share.

Never judges an answer: `checks` does. A check that changes something says so in `needs`.
"""
