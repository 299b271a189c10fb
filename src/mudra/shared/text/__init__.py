"""Text as files and people write it: marks, numbers, tables, what cannot be seen or decoded.

Never knows what a text is about.
"""
