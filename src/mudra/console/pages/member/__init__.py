"""Pages of members' admins.

Never shows another member's data.
"""
