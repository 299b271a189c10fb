"""Commands about where calls are lost, how a role does, and which volume is expected.

They call the API and show its answer. They never add anything up.
"""
