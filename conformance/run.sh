#!/bin/sh
# Tries the GraphQL endpoint with clients of other people's making: starts a demo from the slipway
# program that the first argument names, runs the tests on it (all, or those of the other arguments),
# and ends it. The tests are the only runner of that demo. Those of a browser need Chromium: CHROMIUM names
# it, where it is not /usr/bin/chromium.
set -eu
binary=${1:-}
if ! command -v "$binary" >/dev/null; then
  echo "run.sh: the first argument must be the slipway program (found: '$binary')" >&2
  exit 2
fi
shift
log=$(mktemp)
"$binary" demo --pace 0 --log-level error --listen 127.0.0.1:0 --admin-listen '' \
  --trusted-documents "$(dirname "$0")/trusted-documents.json" >"$log" &
server=$!

finish() {
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  rm -f "$log"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

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
SLIPWAY_ADMIN=$(sed -n 's/^  admin  *//p' "$log")
SLIPWAY_RUNNER=$(sed -n 's/^  runner  *//p' "$log")
SLIPWAY_ROLLBACK_TARGET=$(sed -n 's|.*/deployments/\([^/]*\)/rollback".*|\1|p' "$log")
export SLIPWAY_URL SLIPWAY_ADMIN SLIPWAY_RUNNER SLIPWAY_ROLLBACK_TARGET

cd "$(dirname "$0")"
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund
# One file after the other: each rolls the same instance back.
node --test --test-concurrency=1 --test-timeout=60000 "$@"
