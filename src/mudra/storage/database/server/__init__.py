"""The figures that the database server has about itself: version, copies, size, what runs.

Never changes anything there.
"""
