"""Messages to members' and operators' own programs, by HTTP (Standard Webhooks 1).

Owns the signature of a message and the call that delivers it: the addresses it may
reach, its time limit, the statuses that count as delivered. Never decides who is
notified of what, and never reads more of a webhook's response than its status, or of a
probe's than a bounded answer: addresses and responses are untrusted. Neighbors: `metrics`
writes the messages, `registry` the challenges, `storage` stores both, `jobs` delivers them.
"""
