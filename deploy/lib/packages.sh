# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Packages of Debian 12 and 13: what the programs are built from and `deploy/try` uses, and what the tests need on top.

# shellcheck disable=SC2034  # read by deploy/install
PACKAGES_RUNTIME=(
  build-essential cmake ninja-build pkg-config clang
  libdpdk-dev libbpf-dev libxdp-dev libyaml-cpp-dev libcli11-dev libfmt-dev libspdlog-dev
  nlohmann-json3-dev libmnl-dev libseccomp-dev libsystemd-dev libsodium-dev libmicrohttpd-dev libgnutls28-dev zlib1g-dev libcsv-dev
  prometheus-cpp-dev libjs-chart.js
  iproute2 ethtool iperf3 procps python3 python3-prometheus-client
)
# numpy and matplotlib: the figures of `surety-lab papers --report`. Chromium, with letters: the console's tests; pil: its pictures.
# shellcheck disable=SC2034
PACKAGES_TESTS=(
  libgtest-dev libgmock-dev libbenchmark-dev libclang-rt-dev llvm lld clang-format clang-tidy
  dpdk bpftool curl jq openssl mandoc groff-base man-db zsh iputils-ping iputils-tracepath traceroute util-linux tcpdump tshark prometheus frr keepalived freeradius freeradius-rest freeradius-utils
  python3-scapy python3-yaml python3-jsonschema python3-pytest python3-pytest-xdist shellcheck
  python3-numpy python3-matplotlib python3-pil chromium fonts-dejavu-core dnsmasq-base udhcpc isc-dhcp-client isc-dhcp-relay
  kea-dhcp4-server python3-pynetbox
  debhelper lintian debootstrap systemd git
)

# deploy/image, and the machines that tests/machine boots.
# shellcheck disable=SC2034
PACKAGES_MACHINE=(
  debootstrap fdisk dosfstools mtools e2fsprogs debhelper git
  qemu-system-x86 qemu-utils ovmf openssh-client python3-pytest python3-scapy
)

# missing PACKAGE...: prints those that are not installed.
missing() {
  local installed package
  installed=" $(dpkg-query -W -f='${db:Status-Status}=${Package} ' "$@" 2>/dev/null || true)"
  for package in "$@"; do
    [[ $installed == *" installed=$package "* ]] || echo "$package"
  done
}

SYSTEMD_UNITS=/etc/systemd/system

# keep_off PACKAGE...: those whose service the tests do not want (promtool comes with the server, the others are started by
# hand) are masked, so that none starts, now or at the next boot. Only of what is being installed: one that was here
# before is its owner's.
keep_off() {
  local package
  for package in "$@"; do
    case $package in prometheus | frr | keepalived | freeradius | kea-dhcp4-server | isc-dhcp-relay) ;; *) continue ;; esac
    [ -e "$SYSTEMD_UNITS/$package.service" ] || { mkdir -p "$SYSTEMD_UNITS" && ln -s /dev/null "$SYSTEMD_UNITS/$package.service"; }
  done
}

# Services of what is being installed stay off; a policy that is there already is not ours to change, unless it is what an
# interrupted call of ours has left.
with_services_off() {
  local policy=/usr/sbin/policy-rc.d status=0
  if [ -e "$policy" ] && ! grep -q '^# by Surety$' "$policy"; then
    "$@"
    return
  fi
  printf '#!/bin/sh\n# by Surety\nexit 101\n' >"$policy"
  chmod +x "$policy"
  "$@" || status=$?
  rm -f "$policy"
  return "$status"
}

install_packages() {
  local wanted
  mapfile -t wanted < <(missing "$@")
  [ ${#wanted[@]} -gt 0 ] || return 0
  say "installing ${#wanted[@]} packages: ${wanted[*]}"
  keep_off "${wanted[@]}"
  export DEBIAN_FRONTEND=noninteractive
  dpkg --configure -a </dev/null >/dev/null || return # what an interrupted call has left half done
  apt-get -qq update </dev/null || return
  with_services_off apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends "${wanted[@]}" </dev/null >/dev/null
}
