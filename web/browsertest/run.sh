#!/bin/sh
# Runs the browser tests of two slipway programs, the one with GraphiQL and the one that was built without it. They
# are on demos of both that it starts and ends; those behind a proxy start one of their own.
set -eu
if [ $# -ne 2 ] || ! command -v "$1" >/dev/null || ! command -v "$2" >/dev/null; then
  echo "run.sh: give the slipway program with GraphiQL and the one without (found: '$*')" >&2
  exit 2
fi
SLIPWAY_BIN=$(realpath "$(command -v "$1")")
export SLIPWAY_BIN
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

# start starts a demo of the program $1 and sets url to where it is.
start() {
  log=$(mktemp -p "$logs")
  "$1" demo --pace 0 --log-level error --listen 127.0.0.1:0 --admin-listen '' >"$log" &
  server=$!
  servers="$servers $server"
  tries=300
  while url=$(sed -n 's/^ready: \(http[^ ]*\).*/\1/p' "$log"); [ -z "$url" ]; do
    tries=$((tries - 1))
    if [ "$tries" -eq 0 ] || ! kill -0 "$server" 2>/dev/null; then
      echo "run.sh: $1 ended, or printed no line 'ready: URL' within 60 s; it printed:" >&2
      cat "$log" >&2
      exit 1
    fi
    sleep 0.2
  done
}

start "$1"
export SLIPWAY_URL="$url"
start "$2"
export SLIPWAY_LITE_URL="$url"

cd "$(dirname "$0")"
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund
node --test
