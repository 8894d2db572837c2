// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/linux/gtcp_reservations.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <tuple>

#include "endpoints/linux/gtcp_maps.h"
#include "router/process/human.h"

namespace surety::endpoints {
namespace {

std::uint64_t bytes_per_second(Rate rate) {
  return (rate.bits_per_second() + 7) / 8;
}

template <class Key>
Key key_of(const Prefix& to) {
  const IpAddress address = to.masked().address;
  Key key{};
  key.bits = to.length;
  std::memcpy(key.address, address.data(), sizeof(key.address));
  return key;
}

template <class Key>
Reservation reservation_of(const Key& key, const gtcp_reservation& value) {
  Reservation r{{}, Rate::bytes_per_second(value.bytes_per_second), value.connections};
  r.to = {IpAddress::load(key.address, sizeof(key.address) == 16), static_cast<std::uint8_t>(key.bits)};
  return r;
}

template <class Key>
void put(int map, const Prefix& to, Rate rate) {
  const Key key = key_of<Key>(to);
  const gtcp_reservation value{bytes_per_second(rate), 0};
  if (const int error = bpf_map_update_elem(map, &key, &value, BPF_ANY); error != 0)
    throw std::system_error(-error, std::generic_category(), "cannot reserve for " + to_string(to.masked()));
}

template <class Key>
void take_away(int map, const Prefix& to) {
  const Key key = key_of<Key>(to);
  const int error = bpf_map_delete_elem(map, &key);
  if (error == -ENOENT)
    throw std::runtime_error("nothing is reserved for " + to_string(to.masked()) +
                             "; `surety-gtcp status` lists the reservations");
  if (error != 0)
    throw std::system_error(-error, std::generic_category(),
                            "cannot remove the reservation for " + to_string(to.masked()));
}

template <class Key>
void list(int map, std::vector<Reservation>& found) {
  Key key{};
  const Key* previous = nullptr;
  int error = 0;
  while ((error = bpf_map_get_next_key(map, previous, &key)) == 0) {
    gtcp_reservation value{};
    if (bpf_map_lookup_elem(map, &key, &value) == 0) found.push_back(reservation_of(key, value));
    previous = &key;
  }
  if (error != -ENOENT)
    throw std::system_error(-error, std::generic_category(), "cannot list the reservations");
}

Fd open_pin(const std::string& pins, const char* name) {
  Fd map(bpf_obj_get((pins + "/" + name).c_str()));
  if (map) return map;
  if (errno == ENOENT)
    throw std::runtime_error(
        "no " + pins + " here: attach gtcp first (`surety-gtcp attach`); if it is attached, run this in " +
        "the mount namespace where it was attached (`ip netns exec` makes a new one, `nsenter --net` does "
        "not)");
  if (errno == EPERM || errno == EACCES)
    throw std::runtime_error("not allowed to use " + pins + ": become root");
  throw std::system_error(errno, std::generic_category(), "cannot open " + pins + "/" + name);
}

}  // namespace

GtcpReservations::GtcpReservations(const std::string& pins)
    : v4_(open_pin(pins, GTCP_PREFIXES_V4)),
      v6_(open_pin(pins, GTCP_PREFIXES_V6)),
      sockets_(open_pin(pins, GTCP_SOCKETS)),
      totals_(open_pin(pins, GTCP_TOTALS)) {}

void GtcpReservations::reserve(const Prefix& to, Rate rate) {
  to.address.is_v6() ? put<gtcp_prefix_v6>(v6_.get(), to, rate) : put<gtcp_prefix_v4>(v4_.get(), to, rate);
}

void GtcpReservations::release(const Prefix& to) {
  to.address.is_v6() ? take_away<gtcp_prefix_v6>(v6_.get(), to) : take_away<gtcp_prefix_v4>(v4_.get(), to);
}

void GtcpReservations::reserve(int socket, Rate rate) {
  const gtcp_socket value{bytes_per_second(rate)};
  if (const int error = bpf_map_update_elem(sockets_.get(), &socket, &value, BPF_ANY); error != 0)
    throw std::system_error(-error, std::generic_category(), "cannot reserve for the socket");
}

std::vector<Reservation> GtcpReservations::reservations() const {
  std::vector<Reservation> found;
  list<gtcp_prefix_v4>(v4_.get(), found);
  list<gtcp_prefix_v6>(v6_.get(), found);
  std::sort(found.begin(), found.end(), [](const Reservation& a, const Reservation& b) {
    return std::tuple(a.to.address.is_v6(), a.to.length, a.to.address) <
           std::tuple(b.to.address.is_v6(), b.to.length, b.to.address);
  });
  return found;
}

GtcpTotals GtcpReservations::totals() const {
  const std::uint32_t zero = 0;
  gtcp_totals t{};
  if (const int error = bpf_map_lookup_elem(totals_.get(), &zero, &t); error != 0)
    throw std::system_error(-error, std::generic_category(), "cannot read the counters");
  return {t.connections, t.reserved, t.closed, t.reductions, t.timeouts};
}

Fd socket_of(int pid, int descriptor) {
  const std::string process = "process " + std::to_string(pid);
  const Fd owner(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!owner) throw std::system_error(errno, std::generic_category(), "cannot open " + process);
  Fd socket(static_cast<int>(::syscall(SYS_pidfd_getfd, owner.get(), descriptor, 0)));
  const std::string what = "descriptor " + std::to_string(descriptor) + " of " + process;
  if (!socket) throw std::system_error(errno, std::generic_category(), "cannot get " + what);
  int protocol = 0;
  socklen_t size = sizeof(protocol);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PROTOCOL, &protocol, &size) != 0 || protocol != IPPROTO_TCP)
    throw std::runtime_error(what + " is not a TCP socket");
  return socket;
}

void choose_gtcp(int socket) {
  if (::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, GTCP_NAME, sizeof(GTCP_NAME) - 1) == 0) return;
  if (errno == ENOENT) throw std::runtime_error("gtcp is not attached; run `surety-gtcp attach`");
  throw std::system_error(errno, std::generic_category(), "cannot choose gtcp for the socket");
}

std::string status_text(const GtcpStatus& status) {
  if (!status.attached) return "gtcp is not attached\n";
  TextTable table;
  table.column("to", TextTable::Align::left);
  table.column("each connection", TextTable::Align::right);
  table.column("connections", TextTable::Align::right);
  for (const auto& r : status.reservations)
    table.row({to_string(r.to), human::rate(r.rate.bytes_per_second()), std::to_string(r.connections)});
  const GtcpTotals& t = status.totals;
  return fmt::format(
      "gtcp is attached, for {}\n\n{}\n"
      "{} connections so far, {} with a reservation; {} open now\n"
      "{} window reductions, {} timeouts\n"
      "Windows of each connection: ss -tin\n",
      status.allowed ? "every user"
                     : "processes with CAP_NET_ADMIN (`surety-gtcp attach --allow`: every user)",
      table.text(), t.connections, t.reserved, t.connections - t.closed, t.reductions, t.timeouts);
}

std::string status_json(const GtcpStatus& status) {
  nlohmann::ordered_json out{{"attached", status.attached}};
  if (!status.attached) return out.dump() + "\n";
  out["allowed"] = status.allowed;
  out["reservations"] = nlohmann::ordered_json::array();
  for (const auto& r : status.reservations)
    out["reservations"].push_back({{"to", to_string(r.to)},
                                   {"bits_per_second", r.rate.bits_per_second()},
                                   {"connections", r.connections}});
  const GtcpTotals& t = status.totals;
  out["connections"] = {
      {"total", t.connections}, {"reserved", t.reserved}, {"open", t.connections - t.closed}};
  out["reductions"] = t.reductions;
  out["timeouts"] = t.timeouts;
  return out.dump() + "\n";
}

}  // namespace surety::endpoints
