"""One timeline over the three areas: what happened to a member or to the network, in order.

Never stores an event: each is read where it is already, in the audit log, incidents, silences,
announcements and disputes.
"""
