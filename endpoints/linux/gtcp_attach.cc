// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/linux/gtcp_attach.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "endpoints/linux/gtcp_maps.h"

namespace surety::endpoints {
namespace {

constexpr const char* kAvailable = "/proc/sys/net/ipv4/tcp_available_congestion_control";
constexpr const char* kAllowed = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
constexpr const char* kNeeds =
    "GTCP for Linux sockets needs Linux 5.13 or newer, built with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT and "
    "CONFIG_DEBUG_INFO_BTF";

struct FreeBtf {
  void operator()(btf* b) const { btf__free(b); }
};

std::vector<std::string> words_of(const char* file) {
  std::ifstream in(file);
  return {std::istream_iterator<std::string>(in), {}};
}

bool is_in(const char* word, const char* file) {
  const auto words = words_of(file);
  return std::find(words.begin(), words.end(), word) != words.end();
}

[[noreturn]] void refuse(const std::string& what, int error) {
  if (error == EPERM || error == EACCES) throw std::runtime_error(what + ": not allowed; become root");
  throw std::system_error(error, std::generic_category(), what);
}

void ensure_bpffs(const std::string& mount_point) {
  struct statfs there {};
  if (::statfs(mount_point.c_str(), &there) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot pin BPF maps below " + mount_point);
  if (there.f_type != BPF_FS_MAGIC && ::mount("bpf", mount_point.c_str(), "bpf", 0, "mode=0700") != 0)
    refuse("cannot mount the BPF file system (`mount -t bpf bpf " + mount_point + "`)", errno);
}

void remove_pins(const std::string& pins) {
  std::error_code ignored;
  std::filesystem::remove_all(pins, ignored);
}

// Every map of that kind and name: more than one after a detachment, as long as connections use an older one.
std::vector<Fd> registering_maps() {
  std::vector<Fd> found;
  for (std::uint32_t id = 0; bpf_map_get_next_id(id, &id) == 0;) {
    Fd map(bpf_map_get_fd_by_id(id));
    bpf_map_info info{};
    std::uint32_t size = sizeof(info);
    if (!map || bpf_obj_get_info_by_fd(map.get(), &info, &size) != 0) continue;
    const std::string_view name(info.name);
    if (info.type == BPF_MAP_TYPE_STRUCT_OPS && (name == GTCP_NAME || name == GTCP_CUBIC_MAP))
      found.push_back(std::move(map));
  }
  return found;
}

}  // namespace

std::string kernel_btf() {
  // getenv races only with setenv, which this program does not call.
  const char* given = std::getenv("SURETY_GTCP_BTF");
  return given != nullptr && *given != '\0' ? given : "/sys/kernel/btf/vmlinux";
}

void check_kernel(const std::string& file) {
  const std::unique_ptr<btf, FreeBtf> types(btf__parse(file.c_str(), nullptr));
  if (!types) throw std::runtime_error("this kernel has no type information (no " + file + "): " + kNeeds);
  if (btf__find_by_name_kind(types.get(), "bpf_struct_ops_tcp_congestion_ops", BTF_KIND_STRUCT) < 0)
    throw std::runtime_error(
        std::string("this kernel has no TCP congestion control in BPF (no struct_ops): ") + kNeeds);
}

void LoadedGtcp::Close::operator()(bpf_object* o) const {
  bpf_object__close(o);
}

LoadedGtcp::LoadedGtcp(const std::string& pins) {
  ensure_bpffs(std::filesystem::path(pins).parent_path());
  const auto image = gtcp_object();
  object_.reset(bpf_object__open_mem(image.data(), image.size(), nullptr));
  if (!object_) throw std::system_error(errno, std::generic_category(), "cannot read the BPF programs");
  if (const int error = bpf_object__load(object_.get()); error != 0)
    refuse("cannot load the BPF programs (--verbose shows why)", -error);
  if (const int error = bpf_object__pin_maps(object_.get(), pins.c_str()); error != 0) {
    // libbpf takes its pins away, but not their directory; one with others in it stays.
    ::rmdir(pins.c_str());
    refuse("cannot pin the BPF maps in " + pins, -error);
  }
}

void LoadedGtcp::register_gtcp(bool cubic) {
  const char* name = cubic ? GTCP_CUBIC_MAP : GTCP_NAME;
  bpf_link* link = bpf_map__attach_struct_ops(bpf_object__find_map_by_name(object_.get(), name));
  if (link == nullptr) refuse("cannot register gtcp", errno);
  // Without this the link's end would unregister; the kernel keeps what is registered.
  bpf_link__disconnect(link);
  bpf_link__destroy(link);
}

bool gtcp_attached() {
  return is_in(GTCP_NAME, kAvailable);
}

void attach_gtcp(const std::vector<Reservation>& reservations, const std::string& pins, bool cubic) {
  check_kernel(kernel_btf());
  if (gtcp_attached())
    throw std::runtime_error(
        "gtcp is already attached; `surety-gtcp reserve` changes its reservations, `surety-gtcp detach` "
        "removes it");
  remove_pins(pins);  // pins of a gtcp that something else detached
  LoadedGtcp loaded(pins);
  try {
    GtcpReservations gtcp(pins);
    for (const auto& r : reservations) gtcp.reserve(r.to, r.rate);
    loaded.register_gtcp(cubic);
  } catch (...) {
    remove_pins(pins);
    throw;
  }
}

void detach_gtcp(const std::string& pins) {
  if (!gtcp_attached()) throw std::runtime_error("gtcp is not attached");
  const std::uint32_t zero = 0;
  int error = EPERM;
  for (const Fd& map : registering_maps()) {
    error = -bpf_map_delete_elem(map.get(), &zero);
    if (error == 0) break;
  }
  if (error != 0) refuse("cannot detach gtcp", error);
  remove_pins(pins);
}

bool gtcp_allowed() {
  return is_in(GTCP_NAME, kAllowed);
}

void allow_gtcp() {
  if (gtcp_allowed()) return;
  std::string all;
  for (const auto& word : words_of(kAllowed)) all += word + ' ';
  std::ofstream out(kAllowed);
  if (!(out << all << GTCP_NAME << std::endl))
    throw std::runtime_error(std::string("cannot write ") + kAllowed +
                             ": become root, in the first network namespace");
}

}  // namespace surety::endpoints

// SURETY_GTCP_OBJECT is the file's name, from the build.
asm(".pushsection .rodata\n"
    ".balign 8\n"
    ".global surety_gtcp_object_begin, surety_gtcp_object_end\n"
    "surety_gtcp_object_begin:\n"
    ".incbin \"" SURETY_GTCP_OBJECT
    "\"\n"
    "surety_gtcp_object_end:\n"
    ".popsection\n");

extern "C" {
extern const std::byte surety_gtcp_object_begin[];
extern const std::byte surety_gtcp_object_end[];
}

namespace surety::endpoints {

std::span<const std::byte> gtcp_object() {
  return {surety_gtcp_object_begin, surety_gtcp_object_end};
}

}  // namespace surety::endpoints
