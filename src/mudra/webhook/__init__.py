"""Messages to members' and operators' own programs, by HTTP (Standard Webhooks 1).

Owns the signature of a message and the call that delivers it: whom a call may
reach, how long it may take, what counts as taken. Never decides who is notified or
what, and never reads what a receiver answers beyond its status: addresses are
others' words, and their answers too. Neighbours: `metrics` writes the messages,
`storage` keeps them, `jobs` has them delivered.
"""
