#!/bin/sh
# Removes the Sensor from this node. Its identity and its spool stay, unless --purge is given.
set -eu

prefix=$(cd "$(dirname "$0")" && pwd -P)
state=${SERVICE_SENSOR_STATE_DIR:-/var/lib/service-sensor}
unit=/etc/systemd/system/service-sensor.service
purge=no
case ${1:-} in
  '') ;;
  --purge) purge=yes ;;
  *) echo "usage: $0 [--purge]" >&2; exit 2 ;;
esac

# Only what is an installed Sensor is removed.
[ -f "$prefix/sensor/cli/service-sensor.js" ] || { echo "uninstall: no Sensor in $prefix" >&2; exit 1; }
if [ -f "$unit" ] && grep -q "^ExecStart=$prefix/" "$unit"; then
  systemctl disable --now service-sensor.service >/dev/null 2>&1 || true
  # The engine outlives a restart of the Sensor; now it goes too.
  systemctl kill --kill-who=all service-sensor.service >/dev/null 2>&1 || true
  rm -f "$unit"
  systemctl daemon-reload >/dev/null 2>&1 || true
fi
link=/usr/local/bin/service-sensor
if [ "$(readlink "$link" 2>/dev/null || true)" = "$prefix/bin/service-sensor" ]; then rm -f "$link"; fi
if [ "$purge" = yes ]; then rm -rf "$state"; fi
rm -rf "$prefix"
echo "The Sensor is removed from $prefix."
[ "$purge" = yes ] || echo "Its identity and spool stay in $state."
