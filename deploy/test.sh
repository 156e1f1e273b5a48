#!/usr/bin/env bash
# Tries the packages in a folder, which make packages has built for this machine: each has a server that runs as it would
# from there. It takes root, buildah and systemd; nothing of the machine is changed.
#
#   deploy/test.sh dist
set -euo pipefail
dist=$(realpath "${1:?the folder of the packages}")
cd "$(dirname "$0")"

work=$(mktemp -d)
server=
image() { buildah --root "$work/containers" --runroot "$work/run" --storage-driver vfs "$@"; }
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  [ ! -e "$work/containers" ] || image umount --all >/dev/null
  rm -rf "$work"
}
trap cleanup EXIT

fail() { echo "test: $*" >&2; exit 1; }
only() { [ $# -eq 1 ] && [ -e "$1" ] || fail "want one of it, found $*"; echo "$1"; }

# address reads from a log where something is served.
address() {
  local url= tries
  for tries in $(seq 200); do
    url=$(jq -r --arg what "$2" 'select(.msg == $what) | .url' "$1" 2>/dev/null) && [ -n "$url" ] && break
    read -rt 0.05 <> <(:) || true
  done
  [ -n "$url" ] || { cat "$1" >&2; fail "$2: no line in the log"; }
  echo "$url"
}

# serves NAME COMMAND… runs a server by the command, in a folder of its own, and asks it.
serves() {
  local name=$1 home="$work/home-$1" log="$work/$1.log" api admin answer
  shift
  mkdir -p "$home"
  stamped slipway "$@" version
  (cd "$home" && HOME=$home "$@" init --org acme --runner-token runner.token >/dev/null 2>&1) || fail "$name: init"
  (cd "$home" && HOME=$home SLIPWAY_LISTEN=127.0.0.1:0 SLIPWAY_ADMIN_LISTEN=127.0.0.1:0 exec "$@" serve --log-format json 2>"$log") &
  server=$!
  api=$(address "$log" serving) admin=$(address "$log" 'serving health')
  curl -fsS "$admin/healthz" >/dev/null
  curl -fsS "$admin/readyz" >/dev/null
  [ "$(curl -fsS "$admin/metrics" | grep -c '^slipway_build_info{')" = 1 ] || fail "$name: no metrics"
  answer=$(curl -fsS "$api/graphql" -H "Authorization: Bearer $(cat "$home/runner.token")" -H 'Content-Type: application/json' -d '{"query": "{ viewer { name role } }"}')
  [ "$(jq -r .data.viewer.role <<<"$answer")" = RUNNER ] || fail "$name: $answer"
  curl -fsS "$api/playground" | grep -q '<html' || fail "$name: no explorer"
  kill "$(pgrep -u 65532 -x slipway || echo "$server")" # buildah would kill what it runs
  wait "$server" || fail "$name: exit code $?"
  server=
  echo "$name: served"
}

(cd "$dist" && sha256sum --quiet --check ./*_checksums.txt)

# stamped PROGRAM COMMAND… prints the version of a program, which has that and the commit.
stamped() {
  "${@:2}" | grep "^$1 v[^ ]*, commit [0-9a-f]\{40\}, go" || fail "$1 has the version $("${@:2}")"
}

archive=$(only "$dist"/slipway_*_linux_*.tar.gz)
mkdir "$work/archive"
tar -xzf "$archive" -C "$work/archive" --strip-components 1
serves archive "$work/archive/slipway"
stamped slipway-ecs "$work/archive/slipway-ecs" -version
for file in README.md CHANGELOG.md docs/operations.md docs/licences.md docs/modules/aws-ecs-service/slipway-module.yaml examples/README.md \
  deploy/systemd/slipway.service deploy/prometheus/slipway.rules.yaml completions/_slipway slipway-ecs; do
  [ -s "$work/archive/$file" ] || fail "the archive has no $file"
done

deb=$(only "$dist"/slipway_*.deb)
mkdir "$work/deb"
dpkg-deb -x "$deb" "$work/deb"
serves deb "$work/deb/usr/bin/slipway"
bash -n "$work/deb/usr/share/bash-completion/completions/slipway"
for file in usr/bin/slipway-ecs usr/share/zsh/vendor-completions/_slipway usr/share/fish/vendor_completions.d/slipway.fish \
  usr/share/doc/slipway/copyright usr/share/doc/slipway/docs/operations.md; do
  [ -s "$work/deb/$file" ] || fail "the package has no $file"
done
[ "$(dpkg-deb -f "$deb" Package)" = slipway ]
[ "$(dpkg-deb -I "$deb" conffiles | sort | tr '\n' ' ')" = '/etc/slipway/runner.env /etc/slipway/slipway.env ' ] || fail 'the settings are no conffiles'
[ "$(stat -c %a "$work/deb/etc/slipway/slipway.env")" = 640 ] || fail 'others may read the settings'
cp /lib/systemd/system/*.target /lib/systemd/system/*.slice "$work/deb/lib/systemd/system"
for unit in slipway slipway-runner; do
  said=$(systemd-analyze verify --man=no --root="$work/deb" "/lib/systemd/system/$unit.service" 2>&1) && [ -z "$said" ] || fail "$unit.service: $said"
done

# The figures are those of docs/packages.md, in tenths.
systemd-analyze security --offline=true --threshold=12 --no-pager systemd/slipway.service | tail -1
systemd-analyze security --offline=true --threshold=16 --no-pager systemd/slipway-runner.service | tail -1

for program in slipway slipway-ecs; do
  bill=$(only "$dist/$program"_*_linux_*.cdx.json)
  module=github.com/lib/pq
  [ "$program" = slipway ] || module=github.com/aws/aws-sdk-go-v2/service/ecs
  [ "$(jq -r --arg wanted "$module" '[.components[] | select(.name == $wanted)] | length' "$bill")" = 1 ] || fail "$bill does not have $module"
done

# Without a daemon the image is run by chroot, as its user.
mkdir -p "$work/context/data"
cp "$work/archive/slipway" /etc/ssl/certs/ca-certificates.crt "$work/context"
image build --isolation chroot -q -f docker/Dockerfile -t slipway "$work/context" >/dev/null
config=$(image inspect --type image slipway | jq -c .OCIv1.config)
[ "$(jq -r .User <<<"$config")" = 65532:65532 ] && [ "$(jq -r '.Entrypoint[0]' <<<"$config")" = /usr/bin/slipway ] || fail "the image is $config"
container=$(image from slipway)
root=$(image mount "$container")
[ "$(find "$root" -type f | wc -l)" = 2 ] || fail "the image has $(find "$root" -type f)"
install -d -o 65532 -g 65532 "$work/home-image"
chmod 711 "$work"
cat >"$work/inside" <<EOF
#!/bin/sh
exec buildah --root "$work/containers" --runroot "$work/run" --storage-driver vfs run --isolation chroot \
  --volume "$work/home-image:/var/lib/slipway" --env SLIPWAY_LISTEN="\$SLIPWAY_LISTEN" --env SLIPWAY_ADMIN_LISTEN="\$SLIPWAY_ADMIN_LISTEN" \
  $container /usr/bin/slipway "\$@"
EOF
chmod +x "$work/inside"
serves image "$work/inside"
echo 'packages: everything holds'
