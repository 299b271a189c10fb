"""The record of acts, provable: events and the hash chain over them.

Owns the closed list of events and the chain's arithmetic. Never decides
whether an act is allowed.
"""
