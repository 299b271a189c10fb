#!/bin/sh
# Find a program that tests need (see below), or install Debian's when that is possible.
# Writes where it is; without one, says so in one line and ends with 1.
set -eu
PATH="$PATH:/usr/sbin:/sbin" # the superuser's directories are not in everyone's path
case "$1" in
# The shell draws no window: a third less CPU than the whole browser, and less to install.
chromium) names="chromium-headless-shell chromium chromium-browser google-chrome" package="chromium-headless-shell chromium" what="the browser tests" ;;
httpmime) names=/usr/share/java/httpmime.jar package=libhttpmime-java what="the test of the Java client" ;;
java) names=javac package=default-jdk-headless what="the test of the Java program" ;;
go) names=go package=golang-go what="the test of the sample in Go" ;;
nginx) names=nginx package=nginx-light what="the test of stopping behind nginx" ;;
caddy) names=caddy package=caddy what="the test of the example for Caddy" ;;
systemd-analyze) names=systemd-analyze package=systemd what="the tests of the units" ;;
haproxy) names=haproxy package=haproxy what="the test of the example for HAProxy" ;;
etcd) names=etcd package=etcd-server what="the tests on Patroni" ;;
patroni | patronictl) # Debian 12's 3.0.2 loses writes: deploy/patroni/requirements.txt
    home=$(cd "$(dirname "$0")/.." && pwd)
    names=$home/.build/patroni-env/bin/$1 package= what="the tests on Patroni"
    ;;
postgresql-15) names=/usr/lib/postgresql/15/bin/postgres package=postgresql-15 what="the tests on Patroni" ;;
pgbackrest) names=pgbackrest package=pgbackrest what="the test of a recovery to a time" ;;
pgbouncer) names=pgbouncer package=pgbouncer what="the test behind PgBouncer" ;;
promtool) names=promtool package=prometheus what="the tests of the alert rules" ;;
*) echo "usage: $0 caddy|chromium|etcd|go|haproxy|httpmime|java|nginx|patroni|patronictl|pgbackrest|pgbouncer|postgresql-15|promtool|systemd-analyze" >&2 && exit 2 ;;
esac
find_it() {
    for name in $names; do
        command -v "$name" && return 0
        [ -f "$name" ] && echo "$name" && return 0 # a file that is no program
    done
    return 1
}
apt() { # bounded: where no mirror answers it must not hold up the tests
    # In runlevel 1 Debian starts no service that it installs. Without manuals, their index is not
    # made anew after each program: that took more than all programs themselves.
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive timeout 240 apt-get -qq -o DPkg::Lock::Timeout=180 \
        -o Acquire::Retries=1 -o Acquire::http::Timeout=20 \
        -o 'Dpkg::Options::=--path-exclude=/usr/share/man/*' "$@" >/dev/null 2>&1
}
get_it() { # the first of the packages that there is
    for one in $package; do
        apt install -y --no-install-recommends "$one" && return 0
    done
    return 1
}
find_it && exit 0
if [ -z "$package" ]; then
    (
        flock -w 300 9 2>/dev/null || true
        find_it >/dev/null || {
            python3 -m venv "$home/.build/patroni-env" && timeout 300 "$home/.build/patroni-env/bin/pip" \
                install -q --require-hashes -r "$home/deploy/patroni/requirements.txt"
        } >/dev/null 2>&1 || true
    ) 9<"$0"
    find_it && exit 0
    echo "no $1 here and it could not be installed: $what: skipped" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    ( # the tests' processes may want both programs at once, and an update of the lists does not wait
        flock -w 150 9 2>/dev/null || true
        find_it >/dev/null || get_it || { apt update && get_it; } || true
    ) 9<"$0"
fi
find_it && exit 0
echo "no $1 here and Debian's $package could not be installed: $what: skipped" >&2
exit 1
