#!/bin/sh
# A program for slipway runner that deploys into a file: it writes the release into the folder of the instance. It fails a size
# of more than 5, as a cloud does that has no such machine. What it prints is the log of the deployment, but for the line of
# outputs, which says what was made.
set -eu
cat >release.json.new

if [ "$SLIPWAY_ACTION" = destroy ]; then
  rm -f release.json.new release.json
  echo "What was here is gone."
  exit
fi

# Where there is jq, it reads the release; here the first number after "size" will do, since what is live comes later.
size=$(grep -o '"size": *[0-9]*' release.json.new | head -n 1 | grep -o '[0-9]*$') || size=1
if [ "$size" -gt 5 ]; then
  rm release.json.new
  echo "There is no machine of size $size; the largest is 5." >&2
  exit 1
fi
mv release.json.new release.json
echo "The machine has size $size."
printf '{"outputs": {"endpoint": "file://%s/release.json"}}\n' "$PWD"
