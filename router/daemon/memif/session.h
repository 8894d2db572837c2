// SPDX-License-Identifier: BSD-3-Clause
// The handshake by which two ends agree on memory and rings, without socket or clock.
//
// The server sends hello; the client sends init, its regions and rings, and a connect; the server
// acknowledges each message and confirms the connection. Any invalid message throws Refusal (memory.h) and
// ends the session.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "router/daemon/memif/memory.h"
#include "router/daemon/memif/message.h"
#include "router/daemon/memif/queues.h"
#include "router/process/fd.h"

namespace surety::memif {

// Control messages through a Unix socket (SOCK_SEQPACKET), each with at most one descriptor. Nothing here
// blocks.
struct ReceivedMessage {
  Message message;
  Fd fd;  // the descriptor that came with it; messages with more are refused
};

// nullopt: the peer has closed the socket or sent no valid message; no more is to be received.
std::optional<ReceivedMessage> receive(int socket);
// `fd`: -1: none. false: it could not be sent, and cannot be later.
bool send(int socket, const Message& message, int fd = -1);

// Throws std::system_error. Only the file's user may open the socket, whatever the umask.
Fd listen_at(const std::string& path, int backlog);
// Returns an empty Fd if no server listens there now.
Fd connect_to(const std::string& path);
// Credentials of the process that created the other end.
ucred peer_of(int socket);

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
  virtual void handle(ReceivedMessage received) = 0;
  // True on a server if the peer has sent init; one peer can be accepted.
  virtual bool claims() const { return true; }

  // A message to be sent, in order. The descriptor stays the session's.
  struct Reply {
    Message message;
    int fd = -1;
  };
  std::vector<Reply> take_replies() { return std::exchange(replies_, {}); }
  // True once both ends agree.
  bool agreed() const { return agreed_; }
  Link take_link() { return std::move(link_); }

 protected:
  template <class Body>
  void say(const Body& body, int fd = -1) {
    replies_.push_back({Message::of(body), fd});
  }
  void say_yes() { replies_.push_back({Message{.type = Type::ack}, -1}); }

  Link link_;
  bool agreed_ = false;

 private:
  std::vector<Reply> replies_;
};

std::unique_ptr<Session> serve(const Terms& terms);
std::unique_ptr<Session> request(const Terms& terms);

}  // namespace surety::memif
