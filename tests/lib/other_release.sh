# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The other Debian release than this machine's, in a chroot, where the tree is /src. Its /src/build is kept between calls.

OTHER_RELEASE=$([ "$(. /etc/os-release && echo "$VERSION_CODENAME")" = trixie ] && echo bookworm || echo trixie)
OTHER_ROOT=$SURETY_ROOT/build/other/$OTHER_RELEASE
export OTHER_RELEASE OTHER_ROOT

# in_other_release COMMAND: a line of sh, in /src.
in_other_release() {
  local root=$OTHER_ROOT
  if [ ! -e "$root" ]; then
    rm -rf "$root.new"
    mkdir -p "$(dirname "$root")"
    debootstrap --variant=minbase "$OTHER_RELEASE" "$root.new" http://deb.debian.org/debian >"$root.log" || return
    mv "$root.new" "$root"
  fi
  mkdir -p "$root/src"
  tar -C "$SURETY_ROOT" --exclude=./build -cf - . | tar -C "$root/src" -xf -
  # / in a mount namespace of the command's own, since `ip netns` mounts there.
  # shellcheck disable=SC2016
  unshare --mount --propagation private sh -c 'set -e
    mount --bind "$1" "$1" && cd "$1"
    mount -t proc proc proc && mount --rbind /dev dev && mount -t sysfs sysfs sys && mount -t tmpfs run run && mount -t tmpfs tmp tmp
    mkdir -p old && pivot_root . old && umount -l /old
    cd /src && exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 sh -c "$2"' sh "$root" "$1"
}
