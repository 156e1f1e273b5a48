#!/bin/sh
# Applies the Terraform module of a release with its inputs, or destroys what it has made. Needs git, jq and terraform.
# The state stays in the instance's folder; for a state elsewhere, let the module name a backend.
set -eu
umask 077
cat >deployment.json
url=$(jq -er '.release.moduleVersion.sourceUrl' deployment.json)
ref=$(jq -r '.release.moduleVersion.sourceRef // "HEAD"' deployment.json)
jq '.release.inputs' deployment.json >inputs.tfvars.json

step() { printf '{"currentStep": %d, "totalSteps": 3, "message": "%s"}\n' "$1" "$2"; }
terraform() { command terraform -chdir=module "$@" -no-color; }
export TF_IN_AUTOMATION=1 TF_INPUT=0

step 1 'Fetching the module.'
rm -rf module.new
git init -q module.new
git -C module.new fetch -q --depth 1 -- "$url" "$ref"
git -C module.new checkout -q FETCH_HEAD
rm -rf module
mv module.new module

step 2 'Preparing.'
export TF_DATA_DIR="$PWD/.terraform"
terraform init

case $SLIPWAY_ACTION in
destroy) step 3 'Destroying.' ;;
*) step 3 'Applying.' ;;
esac
terraform "$SLIPWAY_ACTION" -auto-approve -state="$PWD/terraform.tfstate" -var-file="$PWD/inputs.tfvars.json"
[ "$SLIPWAY_ACTION" != destroy ] || exit 0

# Other deployments may read its outputs, but for those that are sensitive.
outputs=$(terraform output -json -state="$PWD/terraform.tfstate")
printf '%s' "$outputs" | jq -c '{outputs: with_entries(select(.value.sensitive | not) | .value |= .value)}'
printf '%s' "$outputs" | jq -c '[to_entries[] | select(.value.sensitive) | .key] | select(length > 0)
  | {message: "Sensitive outputs are not reported: \(.[:20] | join(", "))\(if length > 20 then " and \(length - 20) more" else "" end)."}'
