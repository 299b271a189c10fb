"""Below the framework: the HTTP protocol's limits, the fast path, instrumentation.

Never knows a use case.
"""
