"""Participants: what is registered about each FIP, FIU and AA (spec 2.7).

Owns the entry's rules, its versions and who may see it. Never fetches an
address it holds: registered URLs are data.
"""
