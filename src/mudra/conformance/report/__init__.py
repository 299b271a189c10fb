"""Reports of a run: JUnit XML and one HTML page; they never hold a secret or a token."""
