// SPDX-License-Identifier: BSD-3-Clause
// A bounded number of connections, which their clients share in parts: CONTRIBUTING.md rule 14.
//
// Who opens one too many loses his own oldest one: it is the oldest of the address that has the most that
// goes, so nobody who holds connections open keeps others out, or breaks off what they are reading.
#pragma once

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace surety {

class ConnectionParts {
 public:
  explicit ConnectionParts(std::size_t limit) : limit_(limit) {}

  // `from`: the client's address as bytes. The connection that has to be closed, if any; it does not count
  // any more.
  std::optional<int> opened(int connection, std::string from) {
    open_.emplace_back(connection, std::move(from));
    if (open_.size() <= limit_) return {};
    std::map<std::string_view, std::size_t> parts;
    for (const auto& o : open_) ++parts[o.second];
    const auto most = std::ranges::max_element(parts, {}, &decltype(parts)::value_type::second)->first;
    const auto oldest = std::ranges::find(open_, most, &Open::second);
    const int victim = oldest->first;
    open_.erase(oldest);
    return victim;
  }
  void closed(int connection) {
    open_.remove_if([&](const Open& o) { return o.first == connection; });
  }

 private:
  using Open = std::pair<int, std::string>;
  std::size_t limit_;
  std::list<Open> open_;  // the oldest first
};

}  // namespace surety
