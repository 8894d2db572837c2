// SPDX-License-Identifier: BSD-3-Clause
// Two memif sessions that talk to each other without sockets.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <deque>
#include <utility>

#include "router/daemon/memif/session.h"

namespace surety::memif::test {

inline ReceivedMessage received(const Message& m, int fd = -1) {
  return {m, fd < 0 ? Fd() : Fd(::dup(fd))};
}

template <class Body>
ReceivedMessage received(const Body& body, int fd = -1) {
  return received(Message::of(body), fd);
}

// Says to `to` all that `from` has to say.
inline bool pass(Session& from, Session& to) {
  const auto replies = from.take_replies();
  for (const auto& s : replies) to.handle(received(s.message, s.fd));
  return !replies.empty();
}

struct Links {
  Link server, client;
};

inline Links agree(const Terms& server_terms, const Terms& client_terms) {
  const auto server = serve(server_terms), client = request(client_terms);
  while (pass(*server, *client) || pass(*client, *server)) {
  }
  EXPECT_TRUE(server->agreed() && client->agreed());
  return {server->take_link(), client->take_link()};
}

}  // namespace surety::memif::test
