// Any bytes are a safe message, at any alignment: nothing outside of them is read, and what comes out is
// well-formed.
#include <linux/rtnetlink.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "router/linux/netlink_message.h"

using namespace surety;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}
void check(const config::Prefix& p) {
  require(p.length <= (p.address.v6 ? 128 : 32));
}

void check(const std::monostate&) {}
void check(const LinkEvent& e) {
  require(!e.name.empty());
}
void check(const AddressEvent& e) {
  check(e.address);
}
void check(const NeighborEvent& e) {
  require(e.action == EventAction::add || e.mac == config::Mac{});
}
void check(const RouteEvent& e) {
  check(e.to);
  if (e.blackhole) require(e.next_hops.empty());
  if (e.action == EventAction::add && !e.blackhole) require(!e.next_hops.empty());
}

// With a header whose type and length are right, so that the fuzzer gets at the parsers at once; the first
// byte chooses.
void parse_exactly(std::span<const std::uint8_t> body, std::uint16_t type, std::size_t misalignment) {
  const std::size_t size = sizeof(nlmsghdr) + body.size();
  const auto heap = std::make_unique<std::uint8_t[]>(misalignment + size);
  const nlmsghdr header{static_cast<std::uint32_t>(size), type, 0, 0, 0};
  std::memcpy(heap.get() + misalignment, &header, sizeof(header));
  if (!body.empty()) std::memcpy(heap.get() + misalignment + sizeof(header), body.data(), body.size());
  std::visit([](const auto& e) { check(e); }, parse_message({heap.get() + misalignment, size}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  std::visit([](const auto& e) { check(e); }, parse_message(bytes));
  if (bytes.empty()) return 0;
  constexpr std::uint16_t kTypes[] = {RTM_NEWLINK,  RTM_DELLINK,  RTM_NEWADDR,  RTM_DELADDR,
                                      RTM_NEWROUTE, RTM_DELROUTE, RTM_NEWNEIGH, RTM_DELNEIGH};
  parse_exactly(bytes.subspan(1), kTypes[bytes[0] % 8], bytes[0] / 8 % 4);
  return 0;
}
