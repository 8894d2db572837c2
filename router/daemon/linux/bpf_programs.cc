// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/bpf_programs.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "router/daemon/linux/netlink_commands.h"
#include "router/process/this_process.h"

namespace surety {
namespace {

// All routers use one handle, so that the program of a killed router is replaced.
bpf_tc_opts ours() {
  bpf_tc_opts options{};
  options.sz = sizeof(options);
  options.handle = 0x5375;
  options.priority = 1;
  return options;
}

// Interfaces whose queueing discipline is of our making. One thread attaches and detaches.
std::set<int>& made() {
  static std::set<int> interfaces;
  return interfaces;
}

// Removes a queueing discipline that we have made, unless it has other filters.
void remove_discipline(int ifindex) {
  if (!made().contains(ifindex)) return;
  try {
    if (NetlinkCommands().has_filters(ifindex)) return;
  } catch (const std::runtime_error&) {
    return;  // keeping it costs nothing
  }
  bpf_tc_hook hook{};
  hook.sz = sizeof(hook);
  hook.ifindex = ifindex;
  hook.attach_point = static_cast<bpf_tc_attach_point>(BPF_TC_INGRESS | BPF_TC_EGRESS);
  bpf_tc_hook_destroy(&hook);
  made().erase(ifindex);
}

[[noreturn]] void refuse(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), "cannot " + what);
}

}  // namespace

TcProgram::TcProgram(std::string_view file) : file_(file) {
  const std::string path = bpf_object_path(file);
  if (path.empty())
    throw std::runtime_error(std::string(file) + " is neither beside the program nor in ../lib/surety");
  object_.reset(bpf_object__open_file(path.c_str(), nullptr));
  if (!object_ || bpf_object__load(object_.get()) != 0) refuse(errno, "load " + path);
}

std::pair<TcProgram::Attachment, std::uint32_t> TcProgram::attach(int ifindex, bpf_tc_attach_point point,
                                                                  const char* name) {
  const bpf_program* const program = bpf_object__find_program_by_name(object_.get(), name);
  if (program == nullptr) throw std::runtime_error(std::string(file_) + " has no program " + name);
  auto hook = std::make_unique<bpf_tc_hook>();
  hook->sz = sizeof(*hook);
  hook->ifindex = ifindex;
  hook->attach_point = point;
  const int created = bpf_tc_hook_create(hook.get());
  if (created != 0 && created != -EEXIST) refuse(-created, "create a queueing discipline `clsact`");
  if (created == 0) made().insert(ifindex);
  bpf_tc_opts options = ours();
  options.flags = BPF_TC_F_REPLACE;
  options.prog_fd = bpf_program__fd(program);
  if (const int error = bpf_tc_attach(hook.get(), &options); error != 0)
    refuse(-error, "attach " + std::string(file_));
  return {Attachment(hook.release()), options.prog_id};
}

int TcProgram::map(const char* name) const {
  const int fd = bpf_object__find_map_fd_by_name(object_.get(), name);
  if (fd < 0) throw std::runtime_error(std::string(file_) + " has no map " + name);
  return fd;
}

void TcProgram::Detach::operator()(const bpf_tc_hook* hook) const {
  const bpf_tc_opts options = ours();
  bpf_tc_detach(hook, &options);
  remove_discipline(hook->ifindex);
  delete hook;
}

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
