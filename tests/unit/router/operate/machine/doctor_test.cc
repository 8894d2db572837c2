// SPDX-License-Identifier: BSD-3-Clause
// Each check with its condition broken, on a machine where everything else is well.
#include "router/operate/machine/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/router/operate/machine/fake_machine.h"

namespace surety::machine {
namespace {

using testing::HasSubstr;

constexpr const char* kTwoPorts =
    "version: 1\nworkers: [1]\nports:\n  lan: {device: af_xdp eth1, addresses: [10.1.0.1/24]}\n"
    "  wan: {device: af_packet eth2, trust: core}\n";
constexpr const char* kPci = "version: 1\nworkers: [1]\nports:\n  lan: {device: pci 0000:01:00.0}\n";

class Doctor : public testing::Test {
 protected:
  Doctor() {
    for (const auto& [path, text] : std::map<std::string, std::string>{
             {"/proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   4000000 kB\n"},
             {"/proc/self/limits",
              "Max open files            20000                20000                files\n"
              "Max locked memory         unlimited            unlimited            bytes\n"},
             {"/proc/cpuinfo", "flags : fpu constant_tsc nonstop_tsc\n"},
             {"/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"},
             {"/proc/sys/net/ipv4/ip_forward", "0\n"},
             {"/proc/sys/net/ipv6/conf/all/forwarding", "0\n"},
             {"/proc/sys/net/ipv4/neigh/default/gc_thresh3", "1024\n"},
             {"/proc/sys/net/ipv6/neigh/default/gc_thresh3", "1024\n"},
             {"/proc/net/tcp", "  sl  local_address ...\n"},
             {"/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"},
             {"/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n"},
             {"/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1\n"},
             {"/run/systemd/timesync/synchronized", ""},
             {"/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "100\n"},
             {"/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "100\n"},
             {"/var/lib/surety/lock", ""}})
      m_.put(path, text);
    for (const char* interface : {"all", "eth1", "eth2"})
      m_.put(std::string("/proc/sys/net/ipv4/conf/") + interface + "/rp_filter", "0\n");
    configure(kTwoPorts);
  }

  void configure(const std::string& text) { m_.put("/etc/surety/surety.yaml", text); }

  HostFacts facts() {
    HostFacts p{m_.host()};
    p.file = "/etc/surety/surety.yaml";
    if (m_.host().exists(p.file)) p.parsed = config::parse_file(m_.host().at(p.file));
    p.machine = read_machine_file(p.host);
    p.nics = find_nics(p.host, {});
    if (p.config()) p.workers = p.config()->workers;
    p.memory = 200 << 20;  // 100 pages
    p.version = "1.0";
    p.program = [this](const std::string& file) { return file == missing_ ? "" : "/" + file; };
    p.running = running_;
    return p;
  }

  // The worst that a check says.
  Finding finding(std::string_view check) {
    Finding worst = ok("(nothing)");
    for (const auto& [name, f] : examine(facts()))
      if (name == check && (f.verdict > worst.verdict || worst.says == "(nothing)")) worst = f;
    return worst;
  }
  void expect(std::string_view check, Verdict verdict, const std::string& says, const std::string& mend,
              bool is_safe = false) {
    const Finding f = finding(check);
    EXPECT_EQ(f.verdict, verdict) << f.says;
    EXPECT_THAT(f.says, HasSubstr(says));
    EXPECT_THAT(f.mend, HasSubstr(mend));
    EXPECT_EQ(f.safe, is_safe);
  }
  void runs(const std::string& pid = "77") {
    running_ = Running{{{{"name", "surety"}, {"version", "1.0"}}}, nlohmann::ordered_json::array(), pid};
    m_.put("/proc/" + pid + "/limits", "Max open files  20000  20000  files\n");
    m_.answer("ip_-j_-4_route_show_table_main", "[]");
    m_.answer("ip_-j_-6_route_show_table_main", "[]");
  }
  void listens(const std::string& pid, const std::string& name) {
    m_.put("/proc/net/tcp",
           "  sl  local_address\n   0: 0100007F:24F8 00000000:0000 0A 00000000:00000000 00:00000000 00000000 "
           "    0        0 4711 1 0\n");
    m_.put("/proc/" + pid + "/comm", name + "\n");
    m_.link("/proc/" + pid + "/fd/3", "socket:[4711]");
  }

  FakeMachine m_;
  std::string missing_;
  std::optional<Running> running_;
};

constexpr Verdict kOk = Verdict::ok, kWarning = Verdict::warning, kError = Verdict::error;

TEST_F(Doctor, FindsNothingOnAMachineThatIsWell) {
  const auto all = examine(facts());
  for (const auto& [check, f] : all) EXPECT_EQ(f.verdict, kOk) << check << ": " << f.says;
  EXPECT_FALSE(has_errors(all));
  EXPECT_GT(all.size(), 15U);
}

TEST_F(Doctor, ConfigurationThatIsNotThereWrongOrEmpty) {
  configure("version: 1\nprots: {}\nx: 1\n");
  expect("configuration", kError, "surety.yaml:1: the configuration needs `ports` (and 2 more)",
         "surety check /etc/surety/surety.yaml");
  configure("version: 1\nports: {}\n");
  expect("configuration", kWarning, "has no port", "surety setup");
  m_.remove("/etc/surety/surety.yaml");
  expect("configuration", kWarning, "does not exist", "surety setup");
}

TEST_F(Doctor, SecretsThatEverybodyMayRead) {
  configure(std::string(kTwoPorts) +
            "router: {id: 192.0.2.1}\nsignalling: {mode: observe, key_file: signal.key}\nmetrics: "
            "{password_file: /etc/surety/password}\n");
  expect("secrets", kError, "does not exist: it is the file of the", "");
  for (const char* file : {"/etc/surety/signal.key", "/etc/surety/password"}) {
    m_.put(file, "secret");
    fs::permissions(m_.host().at(file), fs::perms(0640));
  }
  expect("secrets", kOk, "only their owners may read", "");
  fs::permissions(m_.host().at("/etc/surety/password"), fs::perms(0644));
  expect("secrets", kError, "every user may read or change /etc/surety/password",
         "chmod o-rwx " + m_.root().string() + "/etc/surety/password", true);
}

TEST_F(Doctor, StateThatIsNotThereOrTooSmall) {
  configure(std::string(kTwoPorts) + "metrics: {report_size: 1000 GB}\n");
  EXPECT_THAT(finding("configuration").says, HasSubstr("valid"));
  expect("state", kWarning, "the report may take", "report_size");
  m_.remove("/var/lib/surety");
  expect("state", kWarning, "does not exist", "mkdir -p", true);
}

TEST_F(Doctor, ProgramsThatAreMissing) {
  for (const char* file : {"steer.bpf.o", "guard.bpf.o", "divert.bpf.o"}) {
    missing_ = file;
    expect("programs", kError, std::string(file) + " is missing", "apt-get install --reinstall surety");
  }
}

TEST_F(Doctor, DevicesThatAreGoneOrCalledOtherwise) {
  m_.remove("/sys/class/net/eth1");
  expect("devices", kError, "port lan: there is no eth1", "surety setup --dry-run");
  m_.put(kMachineFile, "nics:\n  - {name: eth1, pci: \"0000:01:00.0\", mac: \"02:00:00:00:00:01\"}\n");
  m_.remove("/sys/bus/pci/devices/0000:01:00.0");
  m_.nic("eth9", "0000:09:00.0", "02:00:00:00:00:01", "ixgbe");
  expect("devices", kError, "the interface with its MAC 02:00:00:00:00:01 is eth9 now",
         "ip link set eth9 down && ip link set eth9 name eth1");
  configure(kPci);
  expect("devices", kError, "is at 0000:09:00.0 now",
         "sed -i 's/0000:01:00.0/0000:09:00.0/' /etc/surety/surety.yaml");
}

TEST_F(Doctor, APortThatIsTheWayToThisMachine) {
  for (const char* protocol : {"83", "surety"}) {  // the router's own, without and with deploy/iproute2
    m_.routes(std::string(R"([{"dst": "default", "dev": "eth1", "protocol": ")") + protocol + R"("}])");
    expect("access", kOk, "", "");
  }
  m_.routes(R"([{"dst": "default", "dev": "br0"}])");
  m_.below("br0", "eth1");
  expect("access", kWarning, "eth1 carries the default route", "surety setup --dry-run");
  m_.routes("[]");
  m_.link("/sys/class/net/eth1/master", "../br0");
  expect("access", kWarning, "eth1 is member of br0", "ip link set eth1 nomaster");
}

TEST_F(Doctor, VfioWithoutAnIommu) {
  configure(kPci);
  expect("iommu", kError, "vfio-pci needs an IOMMU", "intel_iommu=on iommu=pt");
  m_.put("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
  expect("iommu", kError, "vfio-pci needs an IOMMU", "amd_iommu=on iommu=pt");
  m_.driver("0000:01:00.0", "mlx5_core");
  expect("iommu", kOk, "no port needs", "");
}

TEST_F(Doctor, APciDeviceOfTheKernels) {
  configure(kPci);
  expect("drivers", kError, "bound to ixgbe, not to vfio-pci", "dpdk-devbind.py -b vfio-pci 0000:01:00.0");
  m_.put("/usr/sbin/driverctl", "");
  expect("drivers", kError, "", "driverctl set-override 0000:01:00.0 vfio-pci");
  m_.driver("0000:01:00.0", "vfio-pci");
  expect("drivers", kOk, "", "");
}

TEST_F(Doctor, LinksThatAreDownCutOrSlow) {
  m_.put("/sys/class/net/eth1/flags", "0x1002\n");
  expect("link", kWarning, "eth1 is down", "ip link set eth1 up", true);
  m_.addresses(
      R"([{"ifname": "eth1", "addr_info": [{"local": "10.1.0.1", "prefixlen": 24, "scope": "global"}]}])");
  expect("link", kWarning, "eth1 is down", "ip link set eth1 up", false);
  m_.put("/sys/class/net/eth1/flags", "0x1003\n");
  m_.put("/sys/class/net/eth1/carrier", "0\n");
  expect("link", kWarning, "eth1 has no link", "ethtool eth1");
  m_.put("/sys/class/net/eth1/carrier", "1\n");
  m_.put("/sys/class/net/eth1/duplex", "half\n");
  expect("link", kWarning, "half duplex", "ethtool -s eth1");
  m_.remove("/sys/class/net/eth1/duplex");
  m_.put("/sys/class/net/eth2/speed", "100\n");
  configure("version: 1\nports:\n  wan: {device: af_xdp eth2, shape: 200 Mbit/s}\n");
  expect("link", kWarning, "its shape is above the 100 Mbit/s", "{shape: 100 Mbit/s}");
}

TEST_F(Doctor, APortThatTheRouterHasNotOpened) {
  runs();
  running_->ports = {{{"name", "lan"}, {"device", "af_xdp eth1"}, {"missing", false}}};
  expect("ports", kOk, "the router has opened the devices of all ports", "");
  running_->ports.front()["missing"] = true;
  expect("ports", kError, "port lan is missing: the router has not opened af_xdp eth1",
         "journalctl -u surety | grep 'port lan'");
  running_->ports.front()["device"] = "pci 0000:01:00.0";
  expect("ports", kError, "has not opened pci 0000:01:00.0; it opens PCI devices when it starts",
         "systemctl restart surety  # once the device is back");
}

TEST_F(Doctor, AnMtuBelowTheConfiguration) {
  m_.put("/sys/class/net/eth1/mtu", "1400\n");
  expect("mtu", kWarning, "port lan: eth1 has an MTU of 1400, below the configured 1500",
         "ip link set eth1 mtu 1500");
  configure("version: 1\nports:\n  lan: {device: af_xdp eth1, mtu: 2000, addresses: [10.1.0.1/24]}\n");
  expect("mtu", kOk, "", "");  // the router sets it when it starts
  runs();
  expect("mtu", kWarning, "below the configured 2000", "ip link set eth1 mtu 2000");
  m_.put("/sys/class/net/eth1/mtu", "9000\n");
  expect("mtu", kOk, "the devices have the configured MTUs", "");
}

TEST_F(Doctor, QueuesThatNobodyReads) {
  m_.put("/sys/class/net/eth1/queues/rx-1/rps_cpus", "0");
  expect("queues", kError, "eth1 has 2 receive queues, the router reads 1", "ethtool -L eth1 combined 1");
}

TEST_F(Doctor, TooFewHugepages) {
  m_.put("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "99\n");
  expect("hugepages", kWarning, "99 hugepages of 2 MB are free, 100 are needed",
         "echo 165 > /proc/sys/vm/nr_hugepages", true);
  m_.put("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "2048\n");  // of somebody else
  expect("hugepages", kWarning, "99 hugepages of 2 MB are free, 100 are needed",
         "echo 2113 > /proc/sys/vm/nr_hugepages", true);
  runs();  // and has them
  expect("hugepages", kOk, "", "");
  running_.reset();
  configure(std::string(kTwoPorts) + "dpdk: {hugepages: on}\n");
  expect("hugepages", kError, "does not start", "nr_hugepages", true);
  configure(std::string(kTwoPorts) + "dpdk: {hugepages: off}\n");
  expect("hugepages", kOk, "needs no hugepages", "");
  configure(kPci);
  expect("hugepages", kError, "does not start", "nr_hugepages", true);
}

TEST_F(Doctor, MemoryInPieces) {
  m_.put(kMachineFile, "hugepages: {0: 100}\n");
  m_.hugepages(0, 60);
  expect("fragmentation", kWarning, "node 0 has 60 of the 100", "compact_memory", true);
  m_.hugepages(0, 100);
  expect("fragmentation", kOk, "", "");
}

TEST_F(Doctor, ANodeWithoutHugepagesForItsNic) {
  configure("version: 1\nports:\n  lan: {device: pci 01:00.0}\n");
  m_.hugepages(0, 100);
  m_.hugepages(1, 0);
  m_.put("/sys/bus/pci/devices/0000:01:00.0/numa_node", "1\n");
  expect("numa", kWarning, "node 1 has NICs of the router, but no hugepages",
         "node1/hugepages/hugepages-2048kB/nr_hugepages", true);
}

TEST_F(Doctor, TooLittleMemory) {
  m_.put("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "0\n");
  m_.put("/proc/meminfo", "MemAvailable:   200000 kB\n");
  expect("memory", kError, "204.8 MB of memory are free, the router needs 309.7 MB", "max_routes");
  m_.put("/proc/meminfo", "MemAvailable:   320000 kB\n");
  expect("memory", kWarning, "", "max_routes");
}

TEST_F(Doctor, LimitsThatAreTooNarrow) {
  m_.put("/proc/self/limits",
         "Max open files            256                20000                files\n"
         "Max locked memory         65536            65536            bytes\n");
  expect("limits", kWarning, "this shell may open 256 files", "LimitNOFILE");
  configure(kPci);
  expect("limits", kWarning, "this shell may lock 65.54 kB", "LimitMEMLOCK=infinity");
  runs();
  m_.put("/proc/77/limits", "Max open files            64                64                files\n");
  expect("limits", kWarning, "the router may open 64 files", "LimitNOFILE");
}

TEST_F(Doctor, CoresThatAreNotThere) {
  configure("version: 1\nworkers: [1, 6]\nports: {}\n");
  expect("cores", kError, "worker core 6 does not exist; this machine has cores 0,1", "workers: [...]");
}

TEST_F(Doctor, AGovernorThatSavesPower) {
  m_.put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
  expect("governor", kWarning, "core 1 of a worker has the frequency governor powersave",
         "echo performance > /sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", true);
}

TEST_F(Doctor, CoresThatOthersUseToo) {
  m_.put("/sys/devices/system/cpu/online", "0-3\n");
  m_.put("/sys/devices/system/cpu/isolated", "2-3\n");
  expect("isolation", kWarning, "workers' cores 1", "surety setup --keep-configuration --isolate 1");
  m_.put("/sys/devices/system/cpu/isolated", "1\n");
  expect("isolation", kOk, "", "");
  m_.put("/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,3\n");
  expect("siblings", kWarning, "core 1 of a worker shares a physical core with core 3", "smt/control");
}

TEST_F(Doctor, ClocksThatAreSlowOrChange) {
  m_.put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  expect("clock", kWarning, "clock is hpet", "echo tsc >");
  m_.put("/proc/cpuinfo", "flags : fpu constant_tsc\n");
  expect("clock", kWarning, "nonstop_tsc", "");
}

TEST_F(Doctor, ATimeOfDayThatNobodyKeeps) {
  m_.remove("/run/systemd/timesync/synchronized");
  m_.put("/usr/bin/timedatectl", "");  // has nothing to switch on
  expect("time", kWarning, "not synchronised", "apt-get install systemd-timesyncd");
  m_.put("/usr/lib/systemd/ntp-units.d/50-chrony.list", "chrony.service\n");
  expect("time", kWarning, "not synchronised", "timedatectl set-ntp true");
  m_.put("/etc/surety/signal.key", "secret");
  configure(std::string(kTwoPorts) +
            "router: {id: 192.0.2.1}\nsignalling: {mode: observe, key_file: signal.key}\n");
  expect("time", kError, "signals are refused", "");
}

TEST_F(Doctor, AKernelThatForwardsBesideTheRouter) {
  m_.put("/proc/sys/net/ipv4/ip_forward", "1\n");
  expect("forwarding", kWarning, "net.ipv4.ip_forward is 1: until the router's first start",
         "sysctl -w net.ipv4.ip_forward=0");
  m_.put("/run/frr/zebra.pid", "");  // which wants it
  m_.put("/proc/sys/net/ipv6/conf/all/forwarding", "1\n");
  expect("forwarding", kOk, "", "");
  m_.put("/proc/sys/net/ipv4/ip_forward", "0\n");
  expect("forwarding", kWarning, "net.ipv4.ip_forward is 0", "sysctl -w net.ipv4.ip_forward=1");
}

TEST_F(Doctor, AFilterAgainstAsymmetricRoutes) {
  m_.put("/proc/sys/net/ipv4/conf/all/rp_filter", "1\n");
  expect("rp_filter", kWarning, "rp_filter of eth1 is strict", "sysctl -w net.ipv4.conf.eth1.rp_filter=2",
         true);
  for (const char* port : {"eth1", "eth2"})
    m_.put(std::string("/proc/sys/net/ipv4/conf/") + port + "/rp_filter", "2\n");
  expect("rp_filter", kOk, "", "");
}

TEST_F(Doctor, ANameOfAConfigurationIsNoCommand) {
  m_.put("/proc/sys/net/ipv4/conf/all/rp_filter", "1\n");
  configure("version: 1\nports:\n  a: {device: af_packet x;reboot}\n  b: {device: af_packet eth2}\n");
  expect("rp_filter", kWarning, "x;reboot is strict", "sysctl -w 'net.ipv4.conf.x;reboot.rp_filter=2'", true);
}

TEST_F(Doctor, TablesThatAreTooSmall) {
  configure("version: 1\nports:\n  lan: {device: af_xdp eth1, addresses: [10.1.0.1/20]}\n");
  expect("tables", kWarning, "room for 1024 neighbors of ipv4, the configuration may need 4096",
         "sysctl -w net.ipv4.neigh.default.gc_thresh3=8192", true);
  m_.put("/proc/sys/net/ipv4/neigh/default/gc_thresh3", "4096\n");
  m_.put("/proc/sys/net/ipv6/route/max_size", "4096\n");
  expect("tables", kWarning, "room for 4096 IPv6 routes, the router for 65536",
         "sysctl -w net.ipv6.route.max_size=131072", true);
}

TEST_F(Doctor, AKernelThatIsNotSetForFrr) {
  m_.put("/etc/frr/frr.conf", "");  // of a package that is not in use
  expect("frr", kOk, "(nothing)", "");
  m_.put("/etc/systemd/system/multi-user.target.wants/frr.service", "");
  m_.put("/proc/sys/net/core/rmem_max", "212992\n");
  expect("frr", kWarning, "zebra loses messages", "sysctl -w net.core.rmem_max=134217728", true);
  m_.put("/proc/sys/net/ipv4/nexthop_compat_mode", "1\n");
  expect("frr", kWarning, "takes twice as long", "sysctl -w net.ipv4.nexthop_compat_mode=0", true);
}

TEST_F(Doctor, AKernelThatIsTooOld) {
  m_.put("/proc/sys/kernel/osrelease", "5.10.0\n");
  expect("kernel", kWarning, "no Landlock", "linux-image-amd64");
  m_.put("/proc/sys/kernel/osrelease", "4.19.0\n");
  expect("kernel", kError, "too old for af_xdp", "linux-image-amd64");
  m_.put("/proc/sys/kernel/osrelease", "6.1.0\n");
  m_.put("/sys/kernel/security/lsm", "lockdown,apparmor");
  expect("kernel", kWarning, "Landlock is off", "lsm=landlock,lockdown,apparmor");
}

TEST_F(Doctor, APortOfMetricsThatIsTaken) {
  listens("99", "nginx");
  expect("metrics", kError, "127.0.0.1:9464 for metrics is in use by nginx (99)", "ss -ltnp 'sport = :9464'");
  runs("99");
  expect("metrics", kOk, "", "");
  runs("77");
  expect("metrics", kError, "in use by nginx", "ss");
  m_.put("/proc/net/tcp", "");
  expect("metrics", kWarning, "nothing listens", "systemctl restart surety");
}

TEST_F(Doctor, RoutesThatLeadNowhere) {
  runs();
  expect("routes", kOk, "", "");
  running_->routes.push_back({{"prefix", "0.0.0.0/0"}, {"next_hop", "10.2.0.1"}, {"state", "unresolved"}});
  expect("routes", kWarning, "next hops that do not answer: 10.2.0.1", "surety show routes state=unresolved");
  running_->routes.push_back({{"prefix", "10.7.0.0/16"}, {"next_hop", "10.2.0.1"}, {"state", "no_room"}});
  expect("routes", kError, "routes without room in the tables: 10.7.0.0/16", "max_routes");
}

TEST_F(Doctor, RoutesThatTheKernelLacks) {
  configure(std::string(kTwoPorts) +
            "routes:\n  - {to: 0.0.0.0/0, via: 10.1.0.7}\n  - {to: 10.9.9.9/32, via: 10.1.0.7}\n");
  runs();
  m_.answer("ip_-j_-4_route_show_table_main", R"([{"dst": "default"}])");
  expect("kernel-routes", kWarning, "lacks the route 10.9.9.9/32", "journalctl -u surety");
  m_.answer("ip_-j_-4_route_show_table_main", R"([{"dst": "default"}, {"dst": "10.9.9.9"}])");
  expect("kernel-routes", kOk, "", "");
}

TEST_F(Doctor, AddressesThatTheKernelLacks) {
  runs();
  const auto has = [this](const std::string& addresses) {
    m_.addresses(R"([{"ifname": "eth1", "addr_info": [)" + addresses + "]}]");
  };
  has("");
  expect("kernel-addresses", kWarning, "port lan: eth1 lacks 10.1.0.1/24 in the kernel",
         "journalctl -u surety | grep '10.1.0.1/24'");
  has(R"({"local": "10.1.0.1", "prefixlen": 24, "scope": "global"})");
  expect("kernel-addresses", kOk, "the kernel has the ports' addresses", "");
  configure(std::string(kTwoPorts) + "kernel: {addresses: off}\n");
  has("");
  expect("kernel-addresses", kOk, "(nothing)", "");
}

TEST_F(Doctor, ARouterOfAnotherVersion) {
  runs();
  expect("version", kOk, "", "");
  m_.link("/proc/77/exe", "/usr/sbin/surety (deleted)");
  expect("version", kWarning, "1.0 is installed, as another build", "systemctl restart surety");
  running_->router.front()["version"] = "0.9";
  expect("version", kWarning, "surety 0.9 runs, 1.0 is installed", "systemctl restart surety");
}

TEST_F(Doctor, FixRunsWhatIsSafeAndOnce) {
  const std::vector<Diagnosis> all{{"a", safe(warning("x", "sysctl -w a=1"))},
                                   {"b", warning("y", "reboot")},
                                   {"c", safe(error("z", "sysctl -w a=1"))},
                                   {"d", safe(warning("w"))}};
  std::ostringstream out;
  fix(m_.host(), all, out);
  EXPECT_THAT(m_.commands(), testing::EndsWith("sh -c 'sysctl -w a=1'\n"));
  EXPECT_EQ(m_.commands().find("reboot"), std::string::npos);
}

TEST_F(Doctor, ItsJsonHasTheseKeys) {
  const auto json = json_of({{"a", safe(warning("says", "mend"))}, {"b", error("bad")}});
  EXPECT_EQ(
      json.dump(),
      R"({"checks":[{"check":"a","verdict":"warning","says":"says","mend":"mend","safe":true},)"
      R"({"check":"b","verdict":"error","says":"bad","mend":"","safe":false}],"warnings":1,"errors":1})");
  EXPECT_THAT(text_of({{"a", safe(warning("says", "mend"))}}),
              HasSubstr("warning  a              says\n                        mend   # --fix does\n0 ok, 1 "
                        "warnings, 0 errors\n"));
}

}  // namespace
}  // namespace surety::machine
