"""Programs that run by Debian's own Python inside of the machine of `bench/systemd_units.py`."""
