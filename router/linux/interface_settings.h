// SPDX-License-Identifier: BSD-3-Clause
// How the kernel behaves on the interface of a port: as a router that no customer tells what to do.
//
// Router advertisements are for hosts (RFC 4861 6.2.7), redirects as well (RFC 1812 5.2.7.2, RFC 4861 8.2):
// whoever is on the link could make himself the way of everybody's packets. Nor does it send redirects: what
// the data plane forwards it does not see.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace surety {

class InterfaceSettings {
 public:
  // In the calling thread's network namespace.
  explicit InterfaceSettings(const std::string& interface);
  ~InterfaceSettings();  // as they were, where nobody has changed them since
  InterfaceSettings(InterfaceSettings&&) = default;
  InterfaceSettings& operator=(InterfaceSettings&&) = delete;
  // What could not be switched off: paths below /proc/sys.
  const std::vector<std::string>& refused() const { return refused_; }

 private:
  std::vector<std::pair<std::string, int>> before_;  // path, value; of those that were others
  std::vector<std::string> refused_;
};

}  // namespace surety
