#!/usr/bin/env bash
# Records where the program spends its time under each request of bench/requests, as the profile that the compiler
# optimises it by: bench/profile.sh FILE. The port of the profiles is PORT, 6061 where it is not set.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1 at=http://127.0.0.1:${PORT:-6061}/debug/pprof
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '#!/bin/sh\nexec %q "$@" --debug-listen 127.0.0.1:%s\n' "$PWD/bin/optimized/slipway" "${PORT:-6061}" >"$folder/slipway"
chmod +x "$folder/slipway"
for request in A B C D M S; do
  bin/bench --server "slipway=$folder/slipway" --requests "$request" --ceiling=false --sqlite=false --rounds 1 --time 12s --warm 3s >"$folder/log" 2>&1 &
  until curl -sfo /dev/null "$at/"; do
    kill -0 $! 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
    sleep 0.2
  done
  sleep 4 # what it begins with, and its warming up
  curl -sSfo "$folder/$request.pprof" "$at/profile?seconds=8"
  wait $!
done
go tool pprof -proto "$folder"/*.pprof >"$out"
