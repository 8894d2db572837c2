// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/capture/capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ostream>
#include <stdexcept>
#include <system_error>

#include "router/operate/capture/capture_server.h"

namespace surety {
namespace {

constexpr int kPatience = 25;  // fifths of a second without a message after `stop`

std::string request_of(const CaptureOptions& o) {
  std::string text = o.what;
  if (!o.reasons.empty()) text += fmt::format(" reason={}", fmt::join(o.reasons, ","));
  for (const std::string& filter : o.filters) text += ' ' + filter;
  return text + fmt::format(" rate={} snap={} seconds={}", o.rate, o.snap, o.seconds);
}

// The file, which never grows beyond its limit.
class Output {
 public:
  Output(const std::string& file, std::uint64_t most) : name_(file), most_(most) {
    if (file == "-")
      fd_ = Fd(::dup(STDOUT_FILENO));
    else
      fd_ = Fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!fd_) fail();
  }
  // false: there is no room for it.
  bool write(std::string_view block) {
    if (written_ + block.size() > most_) return false;
    written_ += block.size();
    while (!block.empty()) {
      const ssize_t n = ::write(fd_.get(), block.data(), block.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail();
      block.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

 private:
  [[noreturn]] void fail() const { throw std::system_error(errno, std::generic_category(), name_); }
  std::string name_;
  std::uint64_t most_, written_ = 0;
  Fd fd_;
};

// Writes the router's messages to a file.
class Recording {
 public:
  Recording(const Json& begin, const CaptureOptions& o)
      : output_(o.file, std::uint64_t{o.megabytes} * 1'000'000) {
    for (const Json& r : begin.value("reasons", Json::array()))
      comments_.push_back(fmt::format("dropped: {} ({})", r.value("name", ""), r.value("help", "")));
    std::string head = pcapng::section_header("surety capture");
    for (const Json& port : begin.value("ports", Json::array())) {
      head += pcapng::interface(port.is_string() ? port.get<std::string>() : "", o.snap);
      ++ports_;
    }
    full_ = !output_.write(head);
  }

  void take(std::string_view records) {
    while (!records.empty()) {
      CapturedPacket p;
      if (records.size() < sizeof p) break;
      std::memcpy(&p, records.data(), sizeof p);
      records.remove_prefix(sizeof p);
      if (p.captured > records.size() || p.port >= ports_) break;
      add(p, {reinterpret_cast<const std::uint8_t*>(records.data()), p.captured});
      records.remove_prefix(p.captured);
    }
  }
  bool full() const { return full_; }
  std::uint64_t packets() const { return packets_; }

 private:
  void add(const CapturedPacket& p, std::span<const std::uint8_t> bytes) {
    const std::string_view comment = p.reason < comments_.size() ? comments_[p.reason] : std::string_view();
    const std::string block = pcapng::packet({.interface = p.port,
                                              .direction = p.direction,
                                              .nanoseconds = p.time,
                                              .length = p.length,
                                              .captured = bytes,
                                              .comment = comment});
    full_ = full_ || !output_.write(block);
    packets_ += !full_;
  }

  Output output_;
  std::vector<std::string> comments_;
  std::size_t ports_ = 0;
  std::uint64_t packets_ = 0;
  bool full_ = false;
};

std::string summary(const Recording& recording, const Json& end, const CaptureOptions& o) {
  std::string s = fmt::format("{} packets in {}", recording.packets(), o.file);
  const auto rate = end.value("beyond_rate", 0ull), room = end.value("no_room", 0ull);
  if (rate > 0) s += fmt::format("; {} not captured: beyond {} a second", rate, o.rate);
  if (room > 0) s += fmt::format("; {} not captured: not written fast enough", room);
  if (recording.full()) return s + fmt::format("; ended: {} MB", o.megabytes);
  return s + fmt::format("; ended: {}", end.value("ended", "?"));
}

// Receives one message; empty: none within a fifth of a second. Throws if the router has disconnected.
std::string hear(const Fd& socket) {
  std::string message(1 << 17, '\0');
  const ssize_t n = ::recv(socket.get(), message.data(), message.size(), 0);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
    throw std::runtime_error("the router stopped before the capture ended");
  message.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return message;
}

Json listen(const Fd& socket, Recording& recording, const std::atomic<bool>& stop) {
  bool told = false;
  for (int silent = 0; silent < kPatience;) {
    if (!told && (stop.load(std::memory_order_relaxed) || recording.full())) {
      told = true;
      ::send(socket.get(), kStopCapture.data(), kStopCapture.size(), MSG_NOSIGNAL);
    }
    const std::string message = hear(socket);
    silent = told && message.empty() ? silent + 1 : 0;
    if (message.empty()) continue;
    if (message.front() == kCapturedPackets)
      recording.take(std::string_view(message).substr(1));
    else
      return Json::parse(message, nullptr, false).value(kCaptureCommand, Json::object());
  }
  throw std::runtime_error("the router does not end the capture: look at its log");
}

}  // namespace

int capture(const CaptureOptions& o, const TelemetryClient& client, const std::atomic<bool>& stop,
            std::ostream& err) {
  try {
    const auto [begin, socket] = client.begin("capture", request_of(o), o.router);
    const timeval turn{0, 200'000};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &turn, sizeof turn);
    Recording recording(begin, o);
    const Json end = listen(socket, recording, stop);
    err << "surety capture: " << summary(recording, end, o) << '\n';
    return 0;
  } catch (const std::runtime_error& e) {
    err << "surety capture: " << e.what() << '\n';
    return 1;
  }
}

}  // namespace surety
