// SPDX-License-Identifier: BSD-3-Clause
// Sets the kernel's behaviour on the interface of a port to that of a router, which customers cannot
// influence.
//
// Router advertisements are for hosts (RFC 4861 6.2.7), redirects as well (RFC 1812 5.2.7.2, RFC 4861 8.2):
// any host on the link could direct all packets to itself. The kernel sends no redirects either, since it
// does not see the packets that the data plane forwards.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace surety {

class InterfaceSettings {
 public:
  // Works in the calling thread's network namespace.
  explicit InterfaceSettings(const std::string& interface);
  ~InterfaceSettings();  // restores settings that are still as this object set them
  InterfaceSettings(InterfaceSettings&&) = default;
  InterfaceSettings& operator=(InterfaceSettings&&) = delete;
  // Settings that could not be switched off: paths below /proc/sys.
  const std::vector<std::string>& refused() const { return refused_; }

 private:
  std::vector<std::pair<std::string, int>> before_;  // path and value of changed settings
  std::vector<std::string> refused_;
};

}  // namespace surety
