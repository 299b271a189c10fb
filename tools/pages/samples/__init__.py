"""Samples of calls in five languages, as tabs of a page of the reference."""
