#!/bin/sh
# Sets machine @N@ of three up, as root; may be run again: docs/how-to/run-on-three-machines.md
set -eu
cd "$(dirname "$0")"

machine() {
    apt-get install --no-install-recommends --yes etcd-server postgresql-15 python3-venv haproxy
    systemctl disable --now postgresql
    test -x /opt/patroni/bin/pip || python3 -m venv /opt/patroni
    /opt/patroni/bin/pip install --require-hashes -r patroni-requirements.txt
    id mudra >/dev/null 2>&1 || useradd --system --home-dir /var/lib/mudra mudra
    install -d -m 755 /etc/etcd /etc/patroni /etc/mudra
    certificates etcd /etc/etcd/tls
    certificates postgres /etc/patroni/tls
    install -m 644 certificates/ca.crt /etc/mudra/database-ca.crt
    # Debian's etcd runs with its own settings since it was installed.
    begins=no
    test -d /var/lib/etcd/mudra || begins=yes
    cmp -s etc/default/etcd /etc/default/etcd || echo "the settings of etcd change"
    install -m 644 etc/default/etcd /etc/default/etcd
    install -m 644 etc/patroni/config.yml /etc/patroni/config.yml
    install -m 600 etc/patroni_env.conf /etc/patroni_env.conf
    install -m 644 etc/haproxy/haproxy.cfg /etc/haproxy/haproxy.cfg
    install -m 600 etc/mudra/mudra.env /etc/mudra/mudra.env
    install -m 644 etc/systemd/system/patroni.service etc/systemd/system/mudra.service /etc/systemd/system/
    install -m 644 etc/systemd/system/mudra-backup.service etc/systemd/system/mudra-backup.timer /etc/systemd/system/
    install -m 644 etc/systemd/system/mudra-audit-verify.service etc/systemd/system/mudra-audit-verify.timer /etc/systemd/system/
    install -m 755 usr/local/bin/mudra /usr/local/bin/mudra
    install -d -m 700 -o mudra /var/backups/mudra
    systemctl daemon-reload
    systemctl enable etcd haproxy patroni
    # Only the first time: a restart of two members at once would leave no quorum. Each waits for another.
    if [ $begins = yes ]; then systemctl restart --no-block etcd; fi
    if systemctl is-active --quiet patroni; then
        systemctl reload patroni
    else
        systemctl start --no-block patroni
    fi
    systemctl reload-or-restart haproxy
}

certificates() { # of the machine, for a user, in a folder
    install -d -m 700 -o "$1" "$2"
    install -m 600 -o "$1" certificates/server.key "$2"/server.key
    install -m 644 certificates/server.crt "$2"/server.crt
    install -m 644 certificates/ca.crt "$2"/ca.crt
}

database() {
    set -a
    . ./etc/patroni_env.conf
    set +a
    PGPASSWORD=$PATRONI_SUPERUSER_PASSWORD
    PGSSLMODE=verify-full
    PGSSLROOTCERT=/etc/mudra/database-ca.crt
    export PGPASSWORD PGSSLMODE PGSSLROOTCERT
    primary="postgresql://$PATRONI_SUPERUSER_USERNAME@127.0.0.1:5000"
    psql "$primary/postgres" -Atc "SELECT 1 FROM pg_database WHERE datname = 'mudra'" | grep -q 1 ||
        psql "$primary/postgres" -c 'CREATE DATABASE mudra'
    MUDRA_DATABASE_ADMIN_URL="postgresql://$PATRONI_SUPERUSER_USERNAME:$PGPASSWORD@127.0.0.1:5000/mudra?sslmode=$PGSSLMODE&sslrootcert=$PGSSLROOTCERT"
    export MUDRA_DATABASE_ADMIN_URL
    /usr/local/bin/mudra database prepare
}

mudra() {
    test -x /opt/mudra/bin/mudra || { echo "install Mudra in /opt/mudra first: docs/operations/running.md" >&2; exit 1; }
    systemctl enable mudra
    systemctl restart mudra
    # Only now: before, there is nothing to back up.
    systemctl enable --now mudra-backup.timer mudra-audit-verify.timer
}

case "${1:-machine}" in
machine | database | mudra) "${1:-machine}" ;;
*) echo "usage: $0 [machine|database|mudra]" >&2 && exit 2 ;;
esac
