# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What the scripts of deploy/ and tests/ share: progress lines, root.

SURETY_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export SURETY_ROOT

say() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# become_root SCRIPT ARGUMENTS...: returns as root, or starts SCRIPT again through sudo.
become_root() {
  [ "$(id -u)" -ne 0 ] || return 0
  command -v sudo >/dev/null || die "needs root, and sudo is not installed: run it as root"
  exec sudo -- "$@"
}

# jobs PER_CORE: how many processes to run at once: PER_CORE for each core, and 1.3 GB of free memory for each, which the
# largest compilation takes. At least 1.
jobs() {
  local cores memory
  cores=$(($(nproc) * $1))
  memory=$(($(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo) / 1300000))
  echo $((memory < 1 ? 1 : memory < cores ? memory : cores))
}
