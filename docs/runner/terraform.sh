#!/bin/sh
# Applies the Terraform module of a release with its inputs, or destroys what it has made. Needs git, jq and terraform.
# The state stays in the instance's folder; for a state elsewhere, let the module name a backend.
set -eu
umask 077
if [ "${SLIPWAY_STOP:-group}" != program ]; then
  echo "A stop would reach Terraform's providers and lose what they are making. Start the runner with: --exec $0 --stop program" >&2
  exit 2
fi

# At one SIGINT Terraform ends in order and saves its state; at a second one it leaves at once. This script alone gets
# SIGTERM, and passes it on as one signal to the step that runs.
stopped='' child='' signal=''
stop() {
  trap '' TERM
  stopped=true
  pass
}
pass() {
  [ -n "$child" ] && [ -n "$signal" ] || return 0
  [ "$signal" != INT ] || await_handler
  kill "-$signal" "$child" || true # it has just ended
  signal=''
}
trap stop TERM

# A shell lets its background processes ignore SIGINT. Terraform handles it a moment after it has started.
await_handler() {
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    grep -Eq '^(State:.Z|SigCgt:.*[2367abef]$)' "/proc/$child/status" 2>/dev/null && return 0
    [ -e "/proc/$child/status" ] || return 0 # it has ended, or this is not Linux
    sleep 1
  done
}

# run SIGNAL COMMAND: runs a step that SIGNAL stops, and waits until it has ended.
run() {
  [ -z "$stopped" ] || exit 75
  signal=$1
  shift
  "$@" &
  child=$!
  [ -z "$stopped" ] || pass
  code=0
  wait "$child" || code=$?
  if [ -n "$stopped" ]; then # which may have interrupted the wait; if not, the next one does not know the child
    again=0
    wait "$child" || again=$?
    [ "$again" = 127 ] || code=$again
  fi
  child=''
  return "$code"
}
step() { printf '{"currentStep": %d, "totalSteps": 3, "message": "%s"}\n' "$1" "$2"; }
export TF_IN_AUTOMATION=1 TF_INPUT=0

cat >deployment.json
url=$(jq -er '.release.moduleVersion.sourceUrl' deployment.json)
ref=$(jq -r '.release.moduleVersion.sourceRef // "HEAD"' deployment.json)
folder=module/$(jq -r '.release.moduleVersion.sourcePath // "."' deployment.json)
case "/$folder/" in */../*) echo "The folder of the module leads out of its repository: $folder" >&2; exit 1 ;; esac
jq '.release.inputs' deployment.json >inputs.tfvars.json

step 1 'Fetching the module.'
rm -rf module.new
git init -q module.new
run TERM git -C module.new fetch -q --depth 1 -- "$url" "$ref"
git -C module.new checkout -q FETCH_HEAD
rm -rf module
mv module.new module
# Without a program Terraform would destroy what there is, and call it a success.
set -- "$folder"/*.tf
if [ ! -e "$1" ] && [ -z "$(find "$folder" -maxdepth 1 -name '*.tf.json' 2>/dev/null)" ]; then
  echo "The module has no *.tf in the folder ${folder#module/} of its repository at $ref; publish it with source: {path: ...}." >&2
  exit 1
fi

step 2 'Preparing.'
export TF_DATA_DIR="$PWD/.terraform"
run INT terraform -chdir="$folder" init -no-color

case $SLIPWAY_ACTION in
destroy) step 3 'Destroying.' ;;
*) step 3 'Applying.' ;;
esac
run INT terraform -chdir="$folder" "$SLIPWAY_ACTION" -no-color -auto-approve \
  -state="$PWD/terraform.tfstate" -var-file="$PWD/inputs.tfvars.json"
[ "$SLIPWAY_ACTION" != destroy ] || exit 0

# Other deployments may read its outputs, but for those that are sensitive.
outputs=$(terraform -chdir="$folder" output -no-color -json -state="$PWD/terraform.tfstate")
printf '%s' "$outputs" | jq -c '{outputs: with_entries(select(.value.sensitive | not) | .value |= .value)}'
printf '%s' "$outputs" | jq -c '[to_entries[] | select(.value.sensitive) | .key] | select(length > 0)
  | {message: "Sensitive outputs are not reported: \(.[:20] | join(", "))\(if length > 20 then " and \(length - 20) more" else "" end)."}'
