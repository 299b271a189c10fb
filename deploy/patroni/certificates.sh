#!/bin/sh
# Makes an authority of the machines' own and a certificate for each address, for etcd and PostgreSQL; run again
# it renews what ends within 90 days, by the same authority: docs/how-to/run-on-patroni.md
#   sh certificates.sh FOLDER ADDRESS...
set -eu
umask 077
test $# -ge 2 || { echo "usage: $0 FOLDER ADDRESS..." >&2 && exit 2; }
mkdir -p "$1"
cd "$1"
shift
days_left=7776000  # 90 days, in seconds
key='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
quietly() {
    said=$("$@" 2>&1) || { echo "$said" >&2 && exit 1; }
}
settings=$(mktemp)
trap 'rm -f "$settings"' EXIT

if ! test -f ca.crt; then
    printf '%s\n' '[req]' 'distinguished_name=name' 'x509_extensions=authority' '[name]' '[authority]' \
        'basicConstraints=critical,CA:true' 'keyUsage=critical,keyCertSign' 'subjectKeyIdentifier=hash' >"$settings"
    quietly openssl req -x509 $key -days 3650 -subj '/CN=Machines of Mudra' -config "$settings" -keyout ca.key -out ca.crt
fi
for address do
    if test -f "$address.crt" && openssl x509 -in "$address.crt" -noout -checkend $days_left >/dev/null; then
        continue
    fi
    # Through HAProxy of its own machine a node reaches each PostgreSQL at 127.0.0.1.
    printf '%s\n' "subjectAltName=IP:$address,IP:127.0.0.1" 'extendedKeyUsage=serverAuth,clientAuth' \
        'basicConstraints=critical,CA:false' >"$settings"
    quietly openssl req -new $key -subj "/CN=$address" -keyout "$address.key.new" -out "$address.csr"
    quietly openssl x509 -req -in "$address.csr" -CA ca.crt -CAkey ca.key -days 1095 -extfile "$settings" \
        -out "$address.crt.new"
    mv "$address.key.new" "$address.key"
    mv "$address.crt.new" "$address.crt"
    rm "$address.csr"
done
