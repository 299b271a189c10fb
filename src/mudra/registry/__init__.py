"""Participants: what is registered about each FIP, FIU and AA (spec 2.7).

Owns the entry's rules, its versions and who may see it. Never fetches an
address it holds: registered URLs are data. Neighbours: tokens (stops issuing
when a decision says so), http, console and cli.

payload/    validation.py checks one as a whole, with entity_info.py (rules of each
            type), certificate.py, weak_keys.py, url_rules.py, network_rules.py,
            timestamp.py and vocabulary.py; inspection.py collects the findings. entry.py
            is the result, with the rules of its fields (field_rules.py); lint.py checks
            files, new_jwk.py makes keys.
lifecycle/  record.py (states) and actor.py (rights); submission.py, approval.py and
            entity_status.py decide, decision.py and refusal.py are the outcomes;
            difference.py, history.py and draft_review.py explain; register.py and
            registration.py are the use cases.
key_search/ key_search.py looks for keys that can be factored, after their registration.
directory/  directory.py (visibility, listings, hash), mirror.py (changes since N),
            signed_listings.py (finished bytes), address_book.py.
"""
