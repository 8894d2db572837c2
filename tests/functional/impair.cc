// A bad network between two interfaces: delay, loss and a rate for each direction, for tests in namespaces
// (this kernel has no netem). `impair A B --delay 25ms --loss 1% --seed 1` bridges A and B until it is told
// to stop.
//
// Loss is drawn from the seed for IP packets only, so that ARP cannot fail a test by chance. A frame leaves
// when its delay is over, never early; lateness is what the scheduler adds (about 60 us). SIGTERM prints the
// counters as JSON.
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <arpa/inet.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <system_error>
#include <vector>

#include "conditioners/rng.h"
#include "conditioners/units.h"
#include "config/quantity.h"

namespace surety {
namespace {

volatile sig_atomic_t stopped = 0;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// The only clock of this program; everything else is handed the time.
Time now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Time(std::chrono::seconds(t.tv_sec) + Duration(t.tv_nsec));
}

class Interface {
 public:
  explicit Interface(const std::string& name) : fd_(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0)) {
    if (fd_ < 0) fail("socket");
    const unsigned index = if_nametoindex(name.c_str());
    if (index == 0) fail(name);
    const int on = 1, buffer = 32 << 20;
    if (setsockopt(fd_, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) != 0)
      fail("PACKET_IGNORE_OUTGOING");
    if (setsockopt(fd_, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) != 0) fail("SO_RCVBUFFORCE");
    if (setsockopt(fd_, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer) != 0) fail("SO_SNDBUFFORCE");
    packet_mreq promiscuous{};
    promiscuous.mr_ifindex = static_cast<int>(index);
    promiscuous.mr_type = PACKET_MR_PROMISC;
    if (setsockopt(fd_, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof promiscuous) != 0)
      fail("promiscuous");
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(index);
    if (bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("bind " + name);
  }
  ~Interface() { close(fd_); }
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;

  int fd() const { return fd_; }
  // Length of the frame; 0: none waits.
  std::size_t receive(std::vector<std::uint8_t>& room) const {
    const ssize_t n = recv(fd_, room.data(), room.size(), 0);
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  // Whether it went out, or is lost for good (an interface that is down); false: try again.
  bool send(const std::vector<std::uint8_t>& frame) const {
    return ::send(fd_, frame.data(), frame.size(), 0) >= 0 || (errno != EAGAIN && errno != ENOBUFS);
  }

 private:
  int fd_;
};

struct Impairment {
  Duration delay{};
  double loss = 0;
  Rate rate;                 // zero: none
  std::size_t queue = 1000;  // frames that wait for the rate
};

class Direction {
 public:
  Direction(const Impairment& i, std::uint64_t seed) : impairment_(i), rng_(seed) {}

  void offer(std::vector<std::uint8_t> frame, Time t) {
    ++received_;
    const std::uint16_t type = static_cast<std::uint16_t>(frame[12] << 8 | frame[13]);
    const bool ip = type == ETH_P_IP || type == ETH_P_IPV6;
    if (ip && rng_.uniform() < impairment_.loss) {
      ++lost_;
      return;
    }
    if (impairment_.rate != Rate{}) {
      free_ = std::max(free_, t);
      const Duration packet = transmission_time(Bytes(frame.size() - ETH_HLEN), impairment_.rate);
      if (free_ - t > static_cast<std::int64_t>(impairment_.queue) * packet) {
        ++overflowed_;
        return;
      }
      free_ += packet;
      t = free_;
    }
    line_.push_back({t + impairment_.delay, std::move(frame)});
  }

  void release(const Interface& to, Time t) {
    while (!line_.empty() && line_.front().due <= t && to.send(line_.front().bytes)) line_.pop_front();
  }
  Time next() const { return line_.empty() ? kNever : line_.front().due; }
  std::string json() const {
    return fmt::format(R"({{"received": {}, "lost": {}, "overflowed": {}, "held": {}}})", received_, lost_,
                       overflowed_, line_.size());
  }

 private:
  struct Frame {
    Time due;
    std::vector<std::uint8_t> bytes;
  };
  Impairment impairment_;
  Rng rng_;
  Time free_{};
  std::deque<Frame> line_;
  std::uint64_t received_ = 0, lost_ = 0, overflowed_ = 0;
};

void take_in(const Interface& from, Direction& direction) {
  std::vector<std::uint8_t> room(16384);
  for (int n = 0; n < 64; ++n) {
    const std::size_t length = from.receive(room);
    if (length < ETH_HLEN) return;
    direction.offer({room.begin(), room.begin() + static_cast<std::ptrdiff_t>(length)}, now());
  }
}

void bridge(const Interface& a, const Interface& b, Direction& there, Direction& back) {
  while (!stopped) {
    take_in(a, there);
    take_in(b, back);
    there.release(b, now());
    back.release(a, now());
    const Time next = std::min(there.next(), back.next());
    const Duration wait =
        next == kNever ? Duration(std::chrono::milliseconds(100)) : std::max(next - now(), Duration(0));
    const timespec timeout{wait.count() / 1'000'000'000, wait.count() % 1'000'000'000};
    std::array<pollfd, 2> fds{{{a.fd(), POLLIN, 0}, {b.fd(), POLLIN, 0}}};
    ppoll(fds.data(), fds.size(), &timeout, nullptr);
  }
}

template <class T>
T value_of(const config::Parsed<T>& parsed) {
  if (!parsed.value) throw CLI::ValidationError(parsed.error);
  return *parsed.value;
}

int run(int argc, char** argv) {
  CLI::App app("a network with delay, loss and a rate between two interfaces");
  std::string a, b, delay = "0 s", loss = "0 %", loss_back = "0 %", rate, rate_back;
  std::uint64_t seed = 1;
  std::size_t queue = 1000;
  app.add_option("A", a)->required();
  app.add_option("B", b)->required();
  app.add_option("--delay", delay, "each way");
  app.add_option("--loss", loss, "from A to B");
  app.add_option("--loss-back", loss_back, "from B to A");
  app.add_option("--rate", rate, "from A to B, of IP bytes");
  app.add_option("--rate-back", rate_back, "from B to A");
  app.add_option("--queue", queue, "frames that may wait for the rate");
  app.add_option("--seed", seed);
  CLI11_PARSE(app, argc, argv);

  const auto impairment = [&](const std::string& l, const std::string& r) {
    return Impairment{value_of(config::parse_duration(delay)), value_of(config::parse_fraction(l)),
                      r.empty() ? Rate{} : value_of(config::parse_rate(r)), queue};
  };
  const Interface left(a), right(b);
  Direction there(impairment(loss, rate), seed), back(impairment(loss_back, rate_back), seed + 1);
  struct sigaction stop {};
  stop.sa_handler = [](int) { stopped = 1; };
  sigaction(SIGTERM, &stop, nullptr);
  sigaction(SIGINT, &stop, nullptr);
  prctl(PR_SET_TIMERSLACK, 1);
  fmt::print("ready\n");
  std::fflush(stdout);
  bridge(left, right, there, back);
  fmt::print("{{\"there\": {}, \"back\": {}}}\n", there.json(), back.json());
  return 0;
}

}  // namespace
}  // namespace surety

int main(int argc, char** argv) {
  try {
    return surety::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "impair: {}\n", e.what());
    return 2;
  }
}
