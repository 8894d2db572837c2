// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/interface_settings.h"

#include "router/daemon/linux/tun.h"

namespace surety {

namespace {
constexpr std::pair<const char*, const char*> kOff[] = {{"ipv6", "accept_ra"},
                                                        {"ipv6", "accept_redirects"},
                                                        {"ipv4", "accept_redirects"},
                                                        {"ipv4", "send_redirects"}};
}  // namespace

InterfaceSettings::InterfaceSettings(const std::string& interface) {
  for (const auto& [family, key] : kOff) {
    const std::string path = tun::setting_path(family, interface, key);
    const int value = tun::read_setting(path);
    if (value <= 0) continue;  // off, or no such family here
    if (tun::ensure_setting(path, 0))
      before_.emplace_back(path, value);
    else
      refused_.push_back(path);
  }
}

InterfaceSettings::~InterfaceSettings() {
  for (const auto& [path, value] : before_)
    if (tun::read_setting(path) == 0) tun::ensure_setting(path, value);
}

}  // namespace surety
