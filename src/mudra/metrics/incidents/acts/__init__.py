"""The acts of people about incidents: owner, comments, hand-over, close, reopen, post-mortem.

Never judges calls: what is bad is `metrics.attribution`'s to say.
"""
