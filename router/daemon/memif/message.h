// SPDX-License-Identifier: BSD-3-Clause
// memif's control messages, version 2.0, as they cross the socket: 128 bytes in the machine's byte order, and
// a descriptor beside those that have one. The client provides the memory, the server decides about
// connections.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace surety::memif {

inline constexpr std::uint16_t kVersion = 0x0200;
inline constexpr std::uint8_t kEthernet = 0;  // the mode of an interface; others carry bare IP

enum class Type : std::uint16_t {
  none,
  ack,
  hello,
  init,
  add_region,
  add_ring,
  connect,
  connected,
  disconnect
};

template <std::size_t N>
using Text = std::array<char, N>;  // ends with a zero, or at N

template <std::size_t N>
void copy_text(Text<N>& to, std::string_view text) {
  to.fill(0);
  std::copy_n(text.begin(), std::min(text.size(), N - 1), to.begin());
}

struct [[gnu::packed]] Hello {  // sent by the server on connection
  static constexpr Type kType = Type::hello;
  Text<32> name{};
  std::uint16_t min_version = 0, max_version = 0;
  std::uint16_t max_region = 0, max_to_client_ring = 0,
                max_to_server_ring = 0;  // the largest index, not how many
  std::uint8_t max_log2_ring_size = 0;
};

struct [[gnu::packed]] Init {
  static constexpr Type kType = Type::init;
  std::uint16_t version = 0;
  std::uint32_t id = 0;  // interface number, if a socket has several
  std::uint8_t mode = 0;
  Text<24> secret{};
  Text<32> name{};
};

struct [[gnu::packed]] AddRegion {  // with the descriptor of its memory
  static constexpr Type kType = Type::add_region;
  std::uint16_t index = 0;
  std::uint64_t size = 0;
};

struct [[gnu::packed]] AddRing {  // with the eventfd that its receiver sleeps on
  static constexpr Type kType = Type::add_ring;
  static constexpr std::uint16_t kToServer = 1;  // flag
  std::uint16_t flags = 0, index = 0, region = 0;
  std::uint32_t offset = 0;
  std::uint8_t log2_size = 0;
  std::uint16_t private_header = 0;
};

struct [[gnu::packed]] Connect {
  static constexpr Type kType = Type::connect;
  Text<32> interface {};
};

struct [[gnu::packed]] Connected {
  static constexpr Type kType = Type::connected;
  Text<32> interface {};
};

struct [[gnu::packed]] Disconnect {
  static constexpr Type kType = Type::disconnect;
  std::uint32_t code = 0;
  Text<96> reason{};
};

struct Message {
  Type type = Type::none;
  std::array<std::uint8_t, 126> body{};

  // Interprets the body as any type: any bytes are a valid body.
  template <class Body>
  Body as() const {
    static_assert(sizeof(Body) <= sizeof body && std::is_trivially_copyable_v<Body>);
    Body b;
    std::memcpy(&b, body.data(), sizeof b);
    return b;
  }
  template <class Body>
  static Message of(const Body& b) {
    Message m;
    m.type = Body::kType;
    std::memcpy(m.body.data(), &b, sizeof b);
    return m;
  }
};
static_assert(sizeof(Message) == 128);

}  // namespace surety::memif
