#!/bin/sh
# Installs the Sensor on this node, enrols it and leaves it running. Served by a Console; whoever fetched it pinned the
# Console's key. What it fetches itself comes over TLS verified by the CA, and is checked by its SHA-256.
set -eu

version='@VERSION@'
platform=linux-x64
prefix=/opt/service-sensor
state=${SERVICE_SENSOR_STATE_DIR:-/var/lib/service-sensor}
url= fingerprint= ca_file= flavor= node_name= token_file= token= start=yes
tries_max=60
pause_s=5

say() { printf '%s\n' "$*" >&2; }
fail() { printf 'install: %s\n' "$*" >&2; exit 1; }
usage() {
  say 'usage: install --url URL (--ca-fingerprint SHA256 | --ca-file FILE) [--flavor standard|telecom]'
  say '       [--node-name NAME] [--token-file FILE] [--prefix DIR] [--no-start]'
  say 'The token is asked for, or read from standard input.'
  exit 2
}
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

read_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      --no-start) start=no; shift; continue ;;
      --url|--ca-fingerprint|--ca-file|--flavor|--node-name|--token-file|--prefix) ;;
      *) say "install: there is no option $1"; usage ;;
    esac
    [ $# -ge 2 ] || usage
    case $1 in
      --url) url=${2%/} ;;
      --ca-fingerprint) fingerprint=$(printf %s "$2" | tr -d ': ' | tr 'A-F' 'a-f') ;;
      --ca-file) ca_file=$2 ;;
      --flavor) flavor=$2 ;;
      --node-name) node_name=$2 ;;
      --token-file) token_file=$2 ;;
      --prefix) prefix=${2%/} ;;
    esac
    shift 2
  done
  case $url in https://*) ;; *) say 'install: --url must begin with https://'; usage ;; esac
  case $prefix in /?*) ;; *) say 'install: --prefix must be an absolute path'; usage ;; esac
  [ -n "$fingerprint$ca_file" ] || usage
}

check_machine() {
  [ "$(uname -s) $(uname -m)" = 'Linux x86_64' ] ||
    fail "the package is for Linux on x86-64; this is $(uname -s) on $(uname -m)"
  for tool in curl tar gzip sha256sum base64 awk; do
    command -v "$tool" >/dev/null 2>&1 || fail "$tool is missing: install it and paste the line again"
  done
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null 2>&1 || fail 'run this as root: there is no sudo'
  [ ! -e "$prefix" ] || [ -f "$prefix/sensor/cli/service-sensor.js" ] ||
    fail "$prefix holds something else than a Sensor: move it away, or give --prefix"
}

is_enrolled() { as_root test -f "$state/client.cert.pem"; }

# Never in an argument, where `ps` would show it.
read_token() {
  if [ -n "$token_file" ] && [ "$token_file" != - ]; then
    token=$(cat "$token_file") || fail "$token_file cannot be read"
  elif [ ! -t 0 ]; then
    token=$(cat)
  else
    if is_enrolled; then
      printf 'This node is enrolled. Token of a re-enrollment, or Enter to keep its identity: ' >&2
    else
      printf 'Enrollment token (service-console tokens create): ' >&2
    fi
    stty -echo
    trap 'stty echo; exit 130' INT TERM
    read -r token || token=
    stty echo
    trap - INT TERM
    say ''
  fi
  [ -n "$token" ] || is_enrolled || fail 'no token was given: make one with `service-console tokens create`'
}

# The first look at the CA proves nothing by itself: its fingerprint does.
take_ca() {
  if [ -n "$ca_file" ]; then
    cp "$ca_file" "$work/ca.pem" || fail "$ca_file cannot be read"
    return
  fi
  curl -fsSk --max-time 30 -o "$work/shown.pem" "$url/ca.pem" ||
    fail "no Console answers at $url: check the address, the port and the firewall between"
  awk -v to="$work/shown." '/-----BEGIN CERTIFICATE-----/ { n++ } n { print > (to n) }' "$work/shown.pem"
  shown=
  for one in "$work"/shown.[0-9]*; do
    [ -f "$one" ] || continue
    sum=$(sed '/-----/d' "$one" | base64 -d 2>/dev/null | sha256sum | cut -d ' ' -f 1)
    if [ "$sum" = "$fingerprint" ]; then mv "$one" "$work/ca.pem"; return; fi
    shown="$shown $sum"
  done
  say "install: the CA of $url is not the one you named"
  say "  named  $fingerprint"
  say "  shown ${shown:- none}"
  fail 'compare with the Console itself: somebody may stand between, or the line is of another Console'
}

# Prints the status; the body goes to the file.
get() { curl -sS --cacert "$work/ca.pem" --max-time 900 -o "$2" -w '%{http_code}' "$url$1"; }

fetch() {
  path=$1 to=$2 tries=0
  while :; do
    status=$(get "$path" "$to") || fail "$url$path could not be fetched: see the line above"
    case $status in
      200) return ;;
      429|503)
        tries=$((tries + 1))
        [ "$tries" -le "$tries_max" ] || fail "the Console is still not ready: $(detail_of "$to")"
        [ "$tries" -gt 1 ] || say "The Console asks to wait: $(detail_of "$to")"
        sleep "$pause_s" ;;
      *) fail "the Console answered $status: $(detail_of "$to")" ;;
    esac
  done
}

detail_of() { sed -n 's/.*"detail":"\([^"]*\)".*/\1/p' "$1" | tr -d '\000-\037\177' | cut -c 1-300; }

unpack() {
  fetch "/sensor-package/$version/$platform.tar.gz.sha256" "$work/sum"
  wanted=$(cut -d ' ' -f 1 "$work/sum")
  say "Fetching the Sensor $version..."
  fetch "/sensor-package/$version/$platform.tar.gz" "$work/sensor.tar.gz"
  found=$(sha256sum "$work/sensor.tar.gz" | cut -d ' ' -f 1)
  [ "$found" = "$wanted" ] || fail "the package was damaged on its way (SHA-256 $found, not $wanted)"
  as_root rm -rf "$prefix.new" "$prefix.old"
  as_root mkdir -p "$prefix.new"
  as_root tar -xzf "$work/sensor.tar.gz" -C "$prefix.new" --strip-components=1 ||
    fail "the package cannot be unpacked into $prefix.new: is the disk full?"
  # A running Sensor sees the old files or the new ones, never half of them.
  [ ! -e "$prefix" ] || as_root mv "$prefix" "$prefix.old"
  as_root mv "$prefix.new" "$prefix"
  as_root rm -rf "$prefix.old"
  # Compiles once, so that no start has to.
  as_root "$prefix/bin/service-sensor" warm-up >/dev/null || fail "$prefix/bin/service-sensor does not run here"
}

enrol() {
  [ -n "$token" ] || return 0
  set -- --url "$url"
  if [ -n "$fingerprint" ]; then set -- "$@" --ca-fingerprint "$fingerprint"; else set -- "$@" --ca-file "$work/ca.pem"; fi
  [ -z "$flavor" ] || set -- "$@" --flavor "$flavor"
  [ -z "$node_name" ] || set -- "$@" --node-name "$node_name"
  say 'Enrolling...'
  printf %s "$token" | as_root env SERVICE_LOG_LEVEL=warn SERVICE_SENSOR_STATE_DIR="$state" \
    "$prefix/bin/service-sensor" enroll "$@" --token-file - >&2 || fail "not enrolled; nothing was started"
}

run_it() {
  by_hand="$prefix/bin/service-sensor run"
  if [ "$start" = no ]; then say "Start the Sensor with: $by_hand"; return; fi
  if [ ! -d /run/systemd/system ]; then
    say 'No systemd runs here. Have your service manager start this as root:'
    say "  $by_hand"
    return
  fi
  sed "s|/opt/service-sensor|$prefix|g" "$prefix/service-sensor.service" >"$work/unit"
  as_root install -m 644 "$work/unit" /etc/systemd/system/service-sensor.service
  as_root mkdir -p /usr/local/bin
  as_root ln -sf "$prefix/bin/service-sensor" /usr/local/bin/service-sensor
  as_root systemctl daemon-reload
  as_root systemctl enable --quiet service-sensor.service
  as_root systemctl restart service-sensor.service
  say 'The Sensor runs: systemctl status service-sensor'
}

# Nothing runs before the last line has arrived.
main() {
  read_options "$@"
  check_machine
  read_token
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  take_ca
  unpack
  enrol
  run_it
  say "To remove it: $prefix/uninstall.sh"
}
main "$@"
