#!/bin/sh
# Find a Chromium for the browser tests, or install Debian's when that is possible.
set -eu
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then
        command -v "$name"
        exit 0
    fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1 ||
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 || true
fi
command -v chromium || echo "no Chromium here and none could be installed: the browser tests are skipped" >&2
