// SPDX-License-Identifier: BSD-3-Clause
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "router/daemon/memif/session.h"

namespace surety::memif {

namespace {

class ClientSession final : public Session {
 public:
  explicit ClientSession(const Terms& terms) : terms_(terms) {}
  void handle(ReceivedMessage received) override;

 private:
  void answer(const Hello& hello);
  void lay_out(std::uint16_t receive_queues, std::uint8_t log2_size);

  Terms terms_;
  Fd file_;
  bool answered_ = false;
};

Fd make_event() {
  Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) throw std::system_error(errno, std::generic_category(), "cannot make an eventfd");
  return event;
}

void ClientSession::handle(ReceivedMessage received) {
  const Message& m = received.message;
  switch (m.type) {
    case Type::ack:
      return;
    case Type::hello:
      if (answered_) break;
      return answer(m.as<Hello>());
    case Type::connected:
      if (!answered_ || agreed_) break;
      agreed_ = true;
      return;
    default:
      break;
  }
  throw Refusal("message out of order");
}

void ClientSession::answer(const Hello& hello) {
  if (hello.min_version > kVersion || hello.max_version < kVersion)
    throw Refusal("unsupported version of memif");
  answered_ = true;
  Init init{.version = kVersion};
  copy_text(init.name, "surety");
  say(init);
  lay_out(static_cast<std::uint16_t>(
              std::min<std::uint32_t>(hello.max_to_client_ring + 1u, terms_.receive_queues)),
          std::min(hello.max_log2_ring_size, terms_.log2_ring_size));
  Connect connect{};
  copy_text(connect.interface, terms_.interface);
  say(connect);
}

// Lays out one region: the rings, then the buffers of each.
void ClientSession::lay_out(std::uint16_t receive_queues, std::uint8_t log2_size) {
  const std::uint32_t rings = receive_queues + 1u, ring = Ring::bytes(log2_size);
  const std::uint32_t buffers = terms_.buffer_size << log2_size;
  const std::uint64_t size = std::uint64_t{rings} * (ring + buffers);
  file_ = make_region(size);
  link_.memory.add(file_, size);
  say(AddRegion{.index = 0, .size = size}, file_.get());
  for (std::uint32_t i = 0; i < rings; ++i) {
    std::uint8_t* const at = link_.memory.at(0, i * ring, ring);
    const Lane lane{Ring(at, log2_size, true), rings * ring + i * buffers, terms_.buffer_size};
    lane.ring.set_cookie();
    Fd event = make_event();
    const bool first = i == 0;
    say(AddRing{.flags = first ? AddRing::kToServer : std::uint16_t{0},
                .index = static_cast<std::uint16_t>(first ? 0 : i - 1),
                .offset = i * ring,
                .log2_size = log2_size},
        event.get());
    if (first) {
      link_.transmit = lane;
      link_.transmit_event = std::move(event);
    } else {
      link_.receive.push_back(lane);
      link_.receive_events.push_back(std::move(event));
    }
  }
}

}  // namespace

std::unique_ptr<Session> request(const Terms& terms) {
  return std::make_unique<ClientSession>(terms);
}

}  // namespace surety::memif
