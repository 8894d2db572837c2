// SPDX-License-Identifier: BSD-3-Clause
// Checks of the kernel beside the router: forwarding, filters, sizes of tables, features.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "router/operate/machine/doctor.h"

namespace surety::machine {

namespace {

using Kind = config::Device::Kind;

// "net.ipv4.ip_forward"; dots in an interface's name are written as "/".
fs::path file_of(std::string key) {
  for (char& c : key) c = c == '.' ? '/' : c == '/' ? '.' : c;
  return "/proc/sys/" + key;
}

std::string set(const std::string& key, long long value) {
  return "sysctl -w " + shell_text({fmt::format("{}={}", key, value)});
}

// The value that a setting should have, if the kernel has the setting.
void expect(const HostFacts& p, Findings& all, const std::string& key, bool (*good)(long long),
            long long value, const std::string& why) {
  if (const auto now = p.host.number(file_of(key)); now && !good(*now))
    all.push_back(safe(warning(fmt::format("{} is {}: {}", key, *now, why), set(key, value))));
}

// True if FRR is running, or will be after a boot. Its package alone, or its files in /etc/frr, change
// nothing.
bool has_frr(const HostFacts& p) {
  return p.host.exists("/run/frr/zebra.pid") ||
         p.host.exists("/etc/systemd/system/multi-user.target.wants/frr.service");
}

bool is_on(long long n) {
  return n == 1;
}

// From its first start on, the router's programs drop transit in the kernel. Until then, and on other ports,
// the kernel forwards. FRR requires forwarding, for routes out of a device that is no port.
Findings forwarding(const HostFacts& p) {
  if (p.ports_with({Kind::af_xdp, Kind::af_packet}).empty()) return {};
  Findings all;
  for (const char* key : {"net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"}) {
    const auto now = p.host.number(file_of(key));
    if (!now || is_on(*now) == has_frr(p)) continue;
    all.push_back(warning(
        fmt::format(
            "{} is {}: {}", key, *now,
            has_frr(p)
                ? "FRR's routes by devices that are not ports do not work"
                : "until the router's first start, packets that the kernel forwards bypass all contracts"),
        set(key, has_frr(p))));
  }
  return or_ok(std::move(all), has_frr(p) ? "the kernel forwards by FRR's routes"
                                          : "the kernel forwards no packets beside the router");
}

// The larger of `all` and the interface's counts; 2 is loose.
Findings rp_filter(const HostFacts& p) {
  const auto ports = p.ports_with({Kind::af_xdp, Kind::af_packet});
  if (ports.size() < 2) return {};
  const auto value = [&](const std::string& whose) {
    return p.host.number(fmt::format("/proc/sys/net/ipv4/conf/{}/rp_filter", whose)).value_or(0);
  };
  Findings all;
  for (const auto* port : ports) {
    std::string name = port->device.name;
    if (std::max(value("all"), value(name)) != 1) continue;
    std::ranges::replace(name, '.', '/');
    all.push_back(safe(warning(
        fmt::format("rp_filter of {} is strict: a BGP session or ping that returns by another port fails",
                    port->device.name),
        set(fmt::format("net.ipv4.conf.{}.rp_filter", name), 2))));
  }
  return or_ok(std::move(all), "the kernel's rp_filter permits asymmetric routes");
}

// Possible neighbours, by prefixes and tags.
std::uint64_t expected_neighbors(const config::Config& c, bool v6) {
  constexpr std::uint64_t kMost = 16384;  // neighbours of one prefix
  std::uint64_t n = 0;
  const auto add = [&](const std::vector<Prefix>& prefixes, std::uint64_t times) {
    for (const Prefix& prefix : prefixes)
      if (prefix.address.is_v6() == v6) {
        const unsigned bits = (v6 ? 128U : 32U) - prefix.length;
        n += v6 ? 256 : times > 1 ? times : std::min(kMost, std::uint64_t{1} << std::min(bits, 32U));
      }
  };
  for (const auto& port : c.ports) add(port.addresses, 1);
  for (const auto& i : c.interfaces) add(i.addresses, i.is_template() ? i.count() * i.hosts : 1);
  return n;
}

Findings tables(const HostFacts& p) {
  if (!p.config() || !p.config()->kernel.routes) return {};
  Findings all;
  for (const bool v6 : {false, true}) {
    const std::string family = v6 ? "ipv6" : "ipv4",
                      key = fmt::format("net.{}.neigh.default.gc_thresh", family);
    const auto most = p.host.number(file_of(key + "3"));
    const auto needed = static_cast<long long>(expected_neighbors(*p.config(), v6));
    if (!most || *most >= needed) continue;
    all.push_back(
        safe(warning(fmt::format("the kernel has room for {} neighbors of {}, the configuration may need {}",
                                 *most, family, needed),
                     fmt::format("{} && {} && {}", set(key + "3", needed * 2), set(key + "2", needed),
                                 set(key + "1", needed / 2)))));
  }
  const long long routes = p.config()->dpdk.max_routes;
  if (const auto most = p.host.number(file_of("net.ipv6.route.max_size")); most && *most < routes)
    all.push_back(
        safe(warning(fmt::format("the kernel has room for {} IPv6 routes, the router for {}", *most, routes),
                     set("net.ipv6.route.max_size", routes * 2))));
  return or_ok(std::move(all), "the kernel's tables are large enough");
}

// deploy/frr/sysctl.conf sets the same at every boot.
Findings frr(const HostFacts& p) {
  if (!has_frr(p) || !p.config()) return {};
  Findings all;
  const auto off = [](long long n) { return n == 0; };
  expect(p, all, "net.ipv4.nexthop_compat_mode", off, 0,
         "the kernel takes twice as long to report a full table");
  for (const char* family : {"ipv4", "ipv6"})
    expect(p, all, fmt::format("net.{}.conf.all.ignore_routes_with_linkdown", family), is_on, 1,
           "routes stay when their link goes down");
  constexpr long long kRoom = 134217728;
  expect(
      p, all, "net.core.rmem_max", [](long long n) { return n >= kRoom; }, kRoom,
      "zebra loses messages of a full table");
  return or_ok(std::move(all), "the kernel is set for FRR");
}

struct Version {
  unsigned major = 0, minor = 0;
  auto operator<=>(const Version&) const = default;
};

Version kernel_version(const std::string& text) {
  Version v;
  const char* const end = text.data() + text.size();
  const auto [dot, bad] = std::from_chars(text.data(), end, v.major);
  if (bad == std::errc() && dot != end) std::from_chars(dot + 1, end, v.minor);
  return v;
}

Findings kernel(const HostFacts& p) {
  const std::string text = p.host.line("/proc/sys/kernel/osrelease").value_or("0");
  const Version v = kernel_version(text);
  const std::string mend = "apt-get install linux-image-amd64  # then reboot";
  const bool xdp = !p.ports_with({Kind::af_xdp}).empty();
  if (xdp && v < Version{5, 4})
    return {error(fmt::format("Linux {} is too old for af_xdp, which needs 5.4", text), mend)};
  if (v < Version{5, 13})
    return {warning(fmt::format("Linux {} has no Landlock: the router may read every file", text), mend)};
  const auto modules = p.host.line("/sys/kernel/security/lsm");
  if (modules && modules->find("landlock") == modules->npos)
    return {
        warning("Landlock is off: the router may read every file",
                fmt::format("echo 'GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT "
                            "lsm=landlock,{}\"' > /etc/default/grub.d/lsm.cfg && update-grub  # then reboot",
                            *modules))};
  return {ok(fmt::format("Linux {}, surety {}, {}", text, p.version, p.dpdk))};
}

}  // namespace

std::span<const Check> checks_of_kernel() {
  static constexpr std::array kChecks{Check{"forwarding", forwarding}, Check{"rp_filter", rp_filter},
                                      Check{"tables", tables}, Check{"frr", frr}, Check{"kernel", kernel}};
  return kChecks;
}

}  // namespace surety::machine
