"""The calls about the timeline, for a member and for the network.

Never stores an event.
"""
