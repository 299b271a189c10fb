"""Registered RSA keys that can be factored: by a small prime, or by one that two of them share.

A registration is refused for what is found within a moment (`payload/fields/weak_keys.py`); what
takes a minute of CPU is looked for here, afterwards. Never stores a factor, and never changes
an entry: an operator decides. Neighbours: jobs (runs it), overview (shows what was found).

small_factors.py  the search, pure.
key_search.py     the next step of it, and what is done with a finding.
key_search_store.py  how far each key was searched.
"""
