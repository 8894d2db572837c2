// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/tc_program.h"

#include <cerrno>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>

#include "router/daemon/linux/netlink_commands.h"
#include "router/process/bpf_object_path.h"

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

}  // namespace surety
