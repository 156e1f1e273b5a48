#!/bin/sh
# Runs the browser tests of two slipway programs, the one with GraphiQL and the one that was built without it. They
# are on demos of both that it starts and ends; those behind a proxy, and of empty servers, start some of their own.
set -eu
if [ $# -ne 2 ] || ! command -v "$1" >/dev/null || ! command -v "$2" >/dev/null; then
  echo "run.sh: give the slipway program with GraphiQL and the one without (found: '$*')" >&2
  exit 2
fi
SLIPWAY_BIN=$(realpath "$(command -v "$1")")
SLIPWAY_LITE_BIN=$(realpath "$(command -v "$2")")
. "$(dirname "$0")/../../.ci/demos.sh"

start graphiql "$1"
start lite "$2"
start screens "$1" # no other test approves what awaits approval here
SLIPWAY_SERVER=$(ready graphiql)
SLIPWAY_LITE_URL=$(ready lite)
SLIPWAY_SCREENS_URL=$(ready screens)
export SLIPWAY_BIN SLIPWAY_LITE_BIN SLIPWAY_SERVER SLIPWAY_LITE_URL SLIPWAY_SCREENS_URL

cd "$(dirname "$0")"
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund
node --test
