#!/bin/sh
# Builds GraphiQL into web/dist/playground, with what npm gets for it. Where that fails nothing is left there:
# the program is built without, and serves its small page. In CI it is a failure.
set -u
cd "$(dirname "$0")" || exit 1
echo 'Building GraphiQL (once; about half a minute)…' >&2
if { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --loglevel error; } && npm run --silent build; then
  exit 0
fi
rm -rf dist/playground
echo 'GraphiQL could not be built (it needs Node 20.19 and the npm registry): /playground will be the small page.' >&2
[ "${CI:-}" != true ]
