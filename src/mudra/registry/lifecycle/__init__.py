"""From submission to retirement: versions, approval, suspension.

Never parses JSON and never stores anything.
"""
