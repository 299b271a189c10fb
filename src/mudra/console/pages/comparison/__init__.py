"""Pages of comparisons: the funnel of a member or the network, and quartiles of a role.

They render what `comparison` answers, and never decide what a member may see.
"""
