"""One program for each headline figure; each prints ratios."""
