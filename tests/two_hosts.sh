#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Two hosts on this machine: network namespaces NAME-0 (10.77.0.1) and NAME-1 (10.77.0.2),
# joined by a cable. Needs the right to make namespaces.
#
#   two_hosts.sh make NAME [RATE]     RATE as tc knows it, such as 1gbit; without: no limit
#   two_hosts.sh cut NAME             pulls the cable
#   two_hosts.sh remove NAME          takes the hosts away, whatever state they are in
#   ip netns exec NAME-1 COMMAND ...  runs a command on the second host
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
command=$1 name=$2 rate=${3:-}

set_up() {
  number=$1
  host=$name-$number
  ip -n "$host" link set lo up
  ip -n "$host" address add "10.77.0.$((number + 1))/24" dev cable
  ip -n "$host" link set cable up
  [ -z "$rate" ] ||
    ip netns exec "$host" tc qdisc add dev cable root tbf rate "$rate" burst 256kb latency 50ms
}

case $command in
  make)
    ip netns add "$name-0"
    ip netns add "$name-1"
    ip link add cable netns "$name-0" type veth peer name cable netns "$name-1"
    set_up 0
    set_up 1
    ;;
  cut) ip -n "$name-1" link set cable down ;;
  remove)
    for number in 0 1; do ip netns delete "$name-$number" 2>/dev/null || true; done
    ;;
  *) echo "two_hosts.sh: unknown command $command" >&2; exit 2 ;;
esac
