// SPDX-License-Identifier: BSD-3-Clause
// Selects the line of the contract book that makes room for another contract.
//
// A part is an (interface, rule): sources behind one interface, however many, do not take the lines of
// contracts behind others, nor of other rules. Certain contracts, those whose number of lines the
// configuration determines (`per: rule`, `per: interface`, `contracts:`; all flows of `per: flow` have one
// line), come before all others. The newest line of the largest part is removed, so that old lines are
// stable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "router/pipeline/interfaces/interface_record.h"

namespace surety {

class ContractParts {
 public:
  using Serial = std::uint64_t;  // number of a line: later ones are greater
  struct Part {
    InterfaceIndex interface = 0;
    std::uint32_t rule = 0;
    bool certain = false;
    friend auto operator<=>(const Part&, const Part&) = default;
  };

  void add(const Part& part, Serial line) {
    change(part, [&](auto& lines) { lines.insert(line); });
  }
  void remove(const Part& part, Serial line) {
    change(part, [&](auto& lines) { lines.erase(line); });
  }
  // The line to remove for a new one of this part; nullopt: the new one gets none.
  std::optional<Serial> yields(const Part& part) const {
    if (part.certain)
      if (const auto line = of_largest(false, 0)) return line;
    const auto at = lines_.find(part);
    return of_largest(part.certain, at == lines_.end() ? 1 : at->second.size() + 1);
  }

 private:
  template <class F>
  void change(const Part& part, F&& how) {
    auto& lines = lines_[part];
    auto& by_size = by_size_[part.certain];
    by_size.erase({lines.size(), part});
    how(lines);
    if (lines.empty())
      lines_.erase(part);
    else
      by_size.emplace(lines.size(), part);
  }
  // Returns a line of the part that has most, if it has more than `than`.
  std::optional<Serial> of_largest(bool certain, std::size_t than) const {
    const auto& by_size = by_size_[certain];
    if (by_size.empty() || by_size.rbegin()->first <= than) return {};
    return *lines_.at(by_size.rbegin()->second).rbegin();
  }

  std::map<Part, std::set<Serial>> lines_;
  std::set<std::pair<std::size_t, Part>> by_size_[2];
};

}  // namespace surety
