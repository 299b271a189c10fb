"""Probes of a base URL before an approval: does it answer, by which certificate, with which key.

Never calls an address: an adapter does. Never decides on an entry.
"""
