#!/bin/sh
# Tries the API with clients of other people's making: starts demos from the slipway program that the first
# argument names, runs the tests on them (all, or those of the other arguments), and ends them. The tests are the
# only runner of those demos. Those of a browser need Chromium: CHROMIUM names it, where it is
# not /usr/bin/chromium.
set -eu
binary=${1:-}
if ! command -v "$binary" >/dev/null; then
  echo "run.sh: the first argument must be the slipway program (found: '$binary')" >&2
  exit 2
fi
shift
. "$(dirname "$0")/../.ci/demos.sh"

# token prints the token of a role in the demo of a name.
token() { sed -n "s/^  $2  *//p" "$logs/$1"; }

start demo "$binary" --trusted-documents "$(dirname "$0")/trusted-documents.json"
start narrow "$binary" --cost-capacity 20 --cost-per-second 1
SLIPWAY_SERVER=$(ready demo)
SLIPWAY_ADMIN=$(token demo admin)
SLIPWAY_RUNNER=$(token demo runner)
SLIPWAY_VIEWER=$(token demo viewer)
SLIPWAY_SUPERADMIN=$(token demo superadmin)
SLIPWAY_ROLLBACK_TARGET=$(sed -n 's|.*/deployments/\([^/]*\)/rollback".*|\1|p' "$logs/demo")
# The callers of this one may spend little.
SLIPWAY_NARROW_URL=$(ready narrow)
SLIPWAY_NARROW_ADMIN=$(token narrow admin)
export SLIPWAY_SERVER SLIPWAY_ADMIN SLIPWAY_RUNNER SLIPWAY_VIEWER SLIPWAY_SUPERADMIN SLIPWAY_ROLLBACK_TARGET
export SLIPWAY_NARROW_URL SLIPWAY_NARROW_ADMIN

cd "$(dirname "$0")"
for folder in . rest-typescript; do
  (cd "$folder" && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund; })
done
# One file after the other: each rolls the same instance back.
node --test --test-concurrency=1 --test-timeout=300000 "$@"
