#!/bin/sh
# Runs the browser tests of the slipway program that the first argument or SLIPWAY_BIN names. The explorer's are on
# the server of SLIPWAY_URL, or else on a demo that is started and ended here; those behind a proxy start one of
# their own.
set -eu
binary=${1:-${SLIPWAY_BIN:-}}
log=$(mktemp)
server=

finish() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -f "$log"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if ! SLIPWAY_BIN=$(command -v "$binary"); then
  echo "run.sh: the first argument or SLIPWAY_BIN must be the slipway program (found: '$binary')" >&2
  exit 2
fi
SLIPWAY_BIN=$(realpath "$SLIPWAY_BIN")
export SLIPWAY_BIN
if [ -z "${SLIPWAY_URL:-}" ]; then
  "$SLIPWAY_BIN" demo --pace 0 --log-level error --listen 127.0.0.1:0 --admin-listen '' >"$log" &
  server=$!
  tries=300
  while SLIPWAY_URL=$(sed -n 's/^ready: \(http[^ ]*\).*/\1/p' "$log"); [ -z "$SLIPWAY_URL" ]; do
    tries=$((tries - 1))
    if [ "$tries" -eq 0 ] || ! kill -0 "$server" 2>/dev/null; then
      echo "run.sh: $binary ended, or printed no line 'ready: URL' within 60 s; it printed:" >&2
      cat "$log" >&2
      exit 1
    fi
    sleep 0.2
  done
  export SLIPWAY_URL
fi

cd "$(dirname "$0")"
[ -d node_modules/playwright-core ] || npm ci --no-audit --no-fund
node --test
