"""The page of the audit, and the sentence of each event.

Never changes an event.
"""
