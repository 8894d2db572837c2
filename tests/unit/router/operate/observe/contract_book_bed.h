// SPDX-License-Identifier: BSD-3-Clause
// A book of contracts, and seconds that pass in it.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "router/operate/observe/contract_book.h"

namespace surety {

inline constexpr Time kBookStart{std::chrono::seconds(1000)};

// One service of 8 kbit/s, 1,000 bytes a second, with a bucket of 300 bytes; another, of which nothing is
// promised.
class ContractBookTest : public testing::Test {
 protected:
  static ContractSighting at(std::uint32_t place, FlowId flow, std::uint32_t generation = 1) {
    ContractSighting s;
    s.place = place;
    s.flow = flow;
    s.generation = generation;
    return s;
  }
  void second(const std::vector<ContractSighting>& seen) {
    now += std::chrono::seconds(1);
    book.sample(
        seen, terms,
        [](const ContractSighting& s) {
          const std::string name = std::string("c").append(std::to_string(s.flow));
          return ContractName{name, name};
        },
        now);
  }
  const ContractReading row(const std::string& contract) const {
    for (const ContractReading& r : book.contracts())
      if (r.contract == contract) return r;
    throw std::out_of_range(contract);
  }
  std::string seconds(const std::string& contract) const {
    const ContractReading r = row(contract);
    return std::to_string(r.met_seconds) + " of " + std::to_string(r.demanding_seconds);
  }
  std::optional<double> respect() const {
    std::vector<ServiceReading> services(1);
    services[0].name = "gold";
    book.apply(services);
    return services[0].respect_ratio;
  }

  std::vector<ContractTerms> terms{{"gold", Rate::bits_per_second(8000), Bytes(300), 0.99},
                                   {"free", Rate{}, Bytes(0), std::nullopt}};
  ContractBook book{3};
  Time now = kBookStart;
};

}  // namespace surety
