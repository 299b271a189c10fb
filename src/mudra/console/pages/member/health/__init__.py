"""The page of a member's health, and its parts.

Never counts calls: it shows what the health service reads.
"""
