#!/bin/sh
# Find a program that tests need (chromium, java), or install Debian's when that is possible.
# Writes where it is; without one, says so in one line and ends with 1.
set -eu
case "$1" in
chromium) names="chromium chromium-browser google-chrome" package=chromium what="the browser tests" ;;
java) names=javac package=default-jdk-headless what="the test of the Java program" ;;
*) echo "usage: $0 chromium|java" >&2 && exit 2 ;;
esac
find_it() {
    for name in $names; do
        command -v "$name" && return 0
    done
    return 1
}
apt() { # bounded: where no mirror answers it must not hold up the tests
    DEBIAN_FRONTEND=noninteractive timeout 240 apt-get -qq -o DPkg::Lock::Timeout=180 \
        -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@" >/dev/null 2>&1
}
find_it && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    ( # the tests' processes may want both programs at once, and an update of the lists does not wait
        flock -w 150 9 2>/dev/null || true
        find_it >/dev/null || apt install -y --no-install-recommends "$package" ||
            { apt update && apt install -y --no-install-recommends "$package"; } || true
    ) 9<"$0"
fi
find_it && exit 0
echo "no $1 here and Debian's $package could not be installed: $what: skipped" >&2
exit 1
