"""Service levels: what each member delivered in a time, against the network's targets.

Never changes what was reported, and never decides whose fault something was: incidents say that.
"""
