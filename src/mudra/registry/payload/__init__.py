"""The registration payload (spec 2.7): parsing, rules, findings.

Never knows what is registered already.
"""
