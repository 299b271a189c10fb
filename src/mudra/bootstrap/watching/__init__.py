"""Jobs by which a node watches itself: metrics that alerts read, and the export of the audit.

Never decides about members, and never repairs anything.
"""
