#!/usr/bin/env bash
# A build without the back ends for servers: test/tools/small.sh BUILD. Run by tools/test small.
set -euo pipefail
build=$1

fail() {
    echo "small.sh: $*" >&2
    exit 1
}

needed=$(readelf -d "$build/libabide.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\.so.*\]/\1/p')
for library in $needed; do
    case $library in
    libc | libm | libdl | libpthread | ld-linux* | libsqlite3 | libpcre2-8 | libpcre2-16 | libzstd) ;;
    *) fail "libabide.so needs $library" ;;
    esac
done
ls "$build"/abide-*.so 2>/dev/null && fail "there are modules"

for url in postgres://localhost/none redis://localhost; do
    said=$("$build/abide" wf ls --store "$url" 2>&1) && fail "$url was opened"
    case $said in
    *STORE_NOT_BUILT*) ;;
    *) fail "$url: $said" ;;
    esac
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$build/examples/order-approval" "$folder/orders.db" >"$folder/out" || fail "$(cat "$folder/out")"
