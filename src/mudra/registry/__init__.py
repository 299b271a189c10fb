"""Participants: what is registered about each FIP, FIU and AA (spec 2.7).

Owns the entry's rules, its versions and who may see it. Never fetches an
address it holds: registered URLs are data. Neighbours: tokens (stops issuing
when a decision says so), storage (implements ports.py), http, console and cli.

The payload     check.py judges one as a whole, with entity_info.py (rules of each type),
                certificate.py, address.py, reach.py (ports, IPs), timestamp.py,
                vocabulary.py, field_rules.py; inspection.py collects the findings.
                entry.py is what comes out; lint.py does it for a file, jwk_new.py makes keys.
Its life        record.py (states), actor.py (who may), submission.py, approval.py,
                standing.py decide; decision.py and refusal.py are what they answer;
                difference.py and history.py explain; register.py carries out.
Who sees it     directory.py (visibility, listings, hash), mirror.py (changes since N),
                read.py carries out.
"""
