#!/bin/sh
# Tries the API with clients of other people's making: starts demos from the slipway program that the first
# argument names, runs the tests on them (all, or those of the other arguments), and ends them. The tests are the
# only runner of those demos.
set -eu
binary=${1:-}
if ! command -v "$binary" >/dev/null; then
  echo "run.sh: the first argument must be the slipway program (found: '$binary')" >&2
  exit 2
fi
shift
logs=$(mktemp -d)
servers=

finish() {
  for server in $servers; do
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  done
  rm -rf "$logs"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start begins a demo that has a name, with flags. What it prints is in the file of that name.
start() {
  name=$1
  shift
  "$binary" demo --pace 0 --log-level error --listen 127.0.0.1:0 --admin-listen '' "$@" >"$logs/$name" &
  servers="$servers $!"
  echo $! >"$logs/$name.pid"
}

# ready prints the URL of the demo of a name, once it serves.
ready() {
  tries=300
  while url=$(sed -n 's/^ready: \(http[^ ]*\).*/\1/p' "$logs/$1"); [ -z "$url" ]; do
    tries=$((tries - 1))
    if [ "$tries" -eq 0 ] || ! kill -0 "$(cat "$logs/$1.pid")" 2>/dev/null; then
      echo "run.sh: $binary ended, or printed no line 'ready: URL' within 60 s; it printed:" >&2
      cat "$logs/$1" >&2
      exit 1
    fi
    sleep 0.2
  done
  echo "$url"
}

# token prints the token of a role in the demo of a name.
token() { sed -n "s/^  $2  *//p" "$logs/$1"; }

start demo
start narrow --cost-capacity 20 --cost-per-second 1
SLIPWAY_URL=$(ready demo)
SLIPWAY_ADMIN=$(token demo admin)
SLIPWAY_RUNNER=$(token demo runner)
SLIPWAY_VIEWER=$(token demo viewer)
SLIPWAY_SUPERADMIN=$(token demo superadmin)
SLIPWAY_ROLLBACK_TARGET=$(sed -n 's|.*/deployments/\([^/]*\)/rollback".*|\1|p' "$logs/demo")
# The callers of this one may spend little.
SLIPWAY_NARROW_URL=$(ready narrow)
SLIPWAY_NARROW_ADMIN=$(token narrow admin)
export SLIPWAY_URL SLIPWAY_ADMIN SLIPWAY_RUNNER SLIPWAY_VIEWER SLIPWAY_SUPERADMIN SLIPWAY_ROLLBACK_TARGET
export SLIPWAY_NARROW_URL SLIPWAY_NARROW_ADMIN

cd "$(dirname "$0")"
for folder in . rest-typescript; do
  (cd "$folder" && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund; })
done
# One file after the other: each rolls the same instance back.
node --test --test-concurrency=1 --test-timeout=300000 "$@"
