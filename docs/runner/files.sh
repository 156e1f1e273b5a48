#!/bin/sh
# Deploys by writing the release into a file, which something on this machine watches; a destroy removes it.
set -eu
cat >release.json.new
echo '{"currentStep": 1, "totalSteps": 2, "message": "The release is here."}'

if [ "$SLIPWAY_ACTION" = destroy ]; then
  rm -f release.json.new release.json
  echo '{"currentStep": 2, "totalSteps": 2, "message": "The release is gone."}'
  exit
fi
mv release.json.new release.json
echo '{"currentStep": 2, "totalSteps": 2, "message": "The release is in its place."}'
printf '{"report": {"resourceName": "%s/release.json"}}\n' "$PWD"
printf '{"outputs": {"path": "%s/release.json", "releaseId": "%s"}}\n' "$PWD" "$SLIPWAY_RELEASE_ID"
