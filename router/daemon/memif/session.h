// SPDX-License-Identifier: BSD-3-Clause
// The handshake by which two ends agree on memory and rings, without socket or clock.
//
// The server sends hello; the client sends init, its regions and rings, and a connect; the server
// acknowledges each message and confirms the connection. Any invalid message throws Refusal (memory.h) and
// ends the session.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "router/daemon/memif/channel.h"
#include "router/daemon/memif/memory.h"
#include "router/daemon/memif/queues.h"

namespace surety::memif {

// The result of the handshake.
struct Link {
  Memory memory;
  std::vector<Lane> receive;  // indexed by queue; a lane may have no ring
  Lane transmit;
  std::vector<Fd> receive_events;  // eventfds of the rings with the same index
  Fd transmit_event;
};

// The offer of this end.
struct Terms {
  std::string interface {};  // local name of the interface
  std::uint16_t receive_queues = 1;
  std::uint8_t log2_ring_size = 11;  // for a client
  std::uint32_t buffer_size = 2048;  // bytes, for a client
};

class Session {
 public:
  virtual ~Session() = default;
  virtual void hear(Letter letter) = 0;
  // True on a server if the peer has sent init; one peer can be accepted.
  virtual bool claims() const { return true; }

  // A message to be sent, in order. The descriptor stays the session's.
  struct Saying {
    Message message;
    int fd = -1;
  };
  std::vector<Saying> take_sayings() { return std::exchange(sayings_, {}); }
  // True once both ends agree.
  bool agreed() const { return agreed_; }
  Link take_link() { return std::move(link_); }

 protected:
  template <class Body>
  void say(const Body& body, int fd = -1) {
    sayings_.push_back({Message::of(body), fd});
  }
  void say_yes() { sayings_.push_back({Message{.type = Type::ack}, -1}); }

  Link link_;
  bool agreed_ = false;

 private:
  std::vector<Saying> sayings_;
};

std::unique_ptr<Session> serve(const Terms& terms);
std::unique_ptr<Session> request(const Terms& terms);

}  // namespace surety::memif
