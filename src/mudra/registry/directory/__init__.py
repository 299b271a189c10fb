"""The directory that members read: listings, visibility, the change feed.

Never changes an entry.
"""
