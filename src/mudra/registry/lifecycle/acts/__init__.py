"""The acts on an entry: submission, approval, suspension, each decided on its record.

Never parses JSON.
"""
