// SPDX-License-Identifier: BSD-3-Clause
// A TCP socket that listens at an address of the configuration, and a bound of its connections.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "router/process/fd.h"

namespace surety {

// `listen` is "host:port", "[v6]:port", or with port 0 for any free one. Throws std::runtime_error, one
// sentence with the reason and the fix.
Fd listen_at(const std::string& listen);
// Throws as listen_at() does, except for a port that is in use or needs a privilege.
void check_address(const std::string& listen);
int port_of(const Fd& listener);
bool is_loopback(const Fd& listener);  // only this machine reaches it

// A bounded number of connections, which their clients share in parts: CONTRIBUTING.md rule 14.
//
// One connection too many closes the oldest one of the address that has the most, so that a client that holds
// connections open neither keeps others out nor breaks off what they are reading. Among addresses that have
// equally many the one that loses is drawn at random: a client with many addresses cannot choose them so that
// another one always loses.
class ConnectionParts {
 public:
  // `seed`: secret.
  ConnectionParts(std::size_t limit, std::uint64_t seed) : limit_(limit), draw_(seed) {}

  // `from`: the client's address as bytes. Returns the connection to be closed, if any, which is removed
  // here.
  std::optional<int> opened(int connection, std::string from) {
    open_.emplace_back(connection, std::move(from));
    if (open_.size() <= limit_) return {};
    Parts parts;
    for (const auto& o : open_) ++parts[o.second];
    const std::size_t most = std::ranges::max_element(parts, {}, &Part::second)->second;
    std::erase_if(parts, [&](const Part& p) { return p.second < most; });
    std::uniform_int_distribution<std::ptrdiff_t> among(0, std::ssize(parts) - 1);
    const auto loser = std::next(parts.begin(), among(draw_));
    const auto oldest = std::ranges::find(open_, loser->first, &Open::second);
    const int victim = oldest->first;
    open_.erase(oldest);
    return victim;
  }
  void closed(int connection) {
    open_.remove_if([&](const Open& o) { return o.first == connection; });
  }

 private:
  using Open = std::pair<int, std::string>;
  using Parts = std::map<std::string_view, std::size_t>;  // number of connections of each address
  using Part = Parts::value_type;
  std::size_t limit_;
  std::list<Open> open_;  // the oldest first
  std::mt19937_64 draw_;
};

}  // namespace surety
