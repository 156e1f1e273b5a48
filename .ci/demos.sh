# Demos of a slipway program, for scripts that read this file. They end when the script does.
logs=$(mktemp -d)
servers=

finish() {
  for server in $servers; do
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  done
  rm -rf "$logs"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start begins a demo that has a name, by a program, with flags. What it prints is in the file of that name.
start() {
  name=$1 program=$2
  shift 2
  "$program" demo --pace 0 --log-level error --listen 127.0.0.1:0 --admin-listen '' "$@" >"$logs/$name" &
  servers="$servers $!"
  echo $! >"$logs/$name.pid"
}

# ready prints the URL of the demo of a name, once it serves.
ready() {
  tries=300
  while url=$(sed -n 's/^ready: \(http[^ ]*\).*/\1/p' "$logs/$1"); [ -z "$url" ]; do
    tries=$((tries - 1))
    if [ "$tries" -eq 0 ] || ! kill -0 "$(cat "$logs/$1.pid")" 2>/dev/null; then
      echo "run.sh: the program ended, or printed no line 'ready: URL' within 60 s; it printed:" >&2
      cat "$logs/$1" >&2
      exit 1
    fi
    sleep 0.2
  done
  echo "$url"
}
