"""The calls about the timeline, a member's own and that of the network.

Never stores an event.
"""
