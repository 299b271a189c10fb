"""Addresses of comparisons: the funnel, quartiles of a role, and the volume that is expected.

It reads the query and writes the response. It never decides what a member may see of others.
"""
