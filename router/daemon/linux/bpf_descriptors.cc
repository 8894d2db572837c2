// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/bpf_descriptors.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace surety {

namespace {

using Kind = BpfDescriptor::Kind;

std::optional<Kind> kind_of(int fd) {
  std::array<char, 64> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t n = ::readlink(link.c_str(), target.data(), target.size());
  const std::string_view what(target.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  if (what == "anon_inode:bpf-prog") return Kind::program;
  if (what == "anon_inode:bpf-map") return Kind::map;
  if (what == "anon_inode:btf" || what == "anon_inode:[btf]") return Kind::types;
  return {};
}

template <class Info>
std::uint32_t id_of(int fd) {
  Info info{};
  std::uint32_t size = sizeof(info);
  return bpf_obj_get_info_by_fd(fd, &info, &size) == 0 ? info.id : 0;
}

std::uint32_t id_of(Kind kind, int fd) {
  if (kind == Kind::program) return id_of<bpf_prog_info>(fd);
  return kind == Kind::map ? id_of<bpf_map_info>(fd) : id_of<bpf_btf_info>(fd);
}

}  // namespace

std::vector<BpfDescriptor> open_bpf() {
  std::vector<BpfDescriptor> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc/self/fd"), &::closedir);
  if (!directory) return found;
  while (const dirent* entry = ::readdir(directory.get())) {
    int fd = -1;  // `.` and `..` are none
    std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), fd);
    const auto kind = fd >= 0 ? kind_of(fd) : std::nullopt;
    if (!kind) continue;
    found.push_back({fd, *kind, id_of(*kind, fd)});
  }
  std::ranges::sort(found);
  return found;
}

Fd our_own(BpfDescriptor::Kind kind, std::uint32_t id) {
  for (const BpfDescriptor& d : open_bpf())
    if (d.kind == kind && d.id == id) return Fd(::fcntl(d.fd, F_DUPFD_CLOEXEC, 0));
  return Fd();
}

std::vector<BpfDescriptor> BpfWatch::appeared() const {
  const std::vector<BpfDescriptor> now = open_bpf();
  std::vector<BpfDescriptor> fresh;
  std::ranges::set_difference(now, before_, std::back_inserter(fresh));
  return fresh;
}

void close_bpf(const std::vector<BpfDescriptor>& descriptors) {
  const std::vector<BpfDescriptor> now = open_bpf();
  for (const BpfDescriptor& d : descriptors)
    if (std::ranges::binary_search(now, d)) ::close(d.fd);
}

}  // namespace surety
