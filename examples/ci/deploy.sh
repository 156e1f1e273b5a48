#!/bin/sh
# What a pipeline does with a module. It needs slipway on the PATH, and SLIPWAY_SERVER and SLIPWAY_TOKEN.
#
#   deploy.sh publish MANIFEST          publish a version; one that is there with the same content is fine
#   deploy.sh preview INSTANCE VALUES   print what a deployment would change, as markdown
#   deploy.sh deploy INSTANCE VALUES    deploy the latest version, and go back where that does not work
#
# CHECK may be a command that says by its exit code whether what was deployed works. It gets the outputs as JSON on its input.
set -eu
: "${SLIPWAY_SERVER:?is not set: where the API is served}" "${SLIPWAY_TOKEN:?is not set: a token of a developer or an admin}"

fail() {
  echo "deploy.sh: $1" >&2
  exit "$2"
}

[ $# -ge 2 ] || fail 'want publish MANIFEST, preview INSTANCE VALUES or deploy INSTANCE VALUES' 2
action=$1 instance=$2

case $action in
publish)
  slipway modules lint "$2"
  slipway modules publish "$2" --yes
  ;;
preview)
  slipway preview "$instance" --version latest --values "${3:?is missing: a file of values}" --output markdown
  ;;
deploy)
  code=0
  slipway deploy "$instance" --version latest --values "${3:?is missing: a file of values}" --yes || code=$?
  if [ "$code" -eq 6 ]; then
    # What was live is live still, but the program may have stopped half-way: have it make that again. There is nothing to go
    # back to where this was the first deployment.
    slipway redeploy "$instance@live" --reason 'a deployment failed half-way' --yes || true
    fail 'the deployment failed' 6
  fi
  [ "$code" -eq 0 ] || exit "$code"
  outputs=$(slipway outputs "$instance" --output json)
  if ! printf '%s\n' "$outputs" | sh -c "${CHECK:-true}"; then
    slipway rollback "$instance" --reason 'the check of the pipeline failed' --yes
    fail 'the check failed, and the deployment was rolled back' 1
  fi
  ;;
*) fail "want publish, preview or deploy, found $action" 2 ;;
esac
