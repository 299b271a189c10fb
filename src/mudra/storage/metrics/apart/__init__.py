"""The metrics in a second database or on the machines of a cluster: by AA, paired, handed over.

Never decides what a metric means, and never runs a statement that shares rows out to a cluster.
"""
