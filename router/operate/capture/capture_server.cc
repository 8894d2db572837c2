// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/capture/capture_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

#include "router/process/confinement.h"

namespace surety {
namespace {

constexpr int kTurnMs = 10;                 // between two looks at the rings
constexpr std::size_t kMostBatch = 60'000;  // bytes of a message, but for one packet more

std::string text(const Json& value) {
  return Json{{kCaptureCommand, value}}.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Json reasons() {
  Json all = Json::array();
  for (const DropReasonInfo& r : kDropReasonInfo) all.push_back({{"name", r.name}, {"help", r.help}});
  return all;
}

void append(std::string& to, const CapturedPacket& packet, std::span<const std::uint8_t> bytes) {
  to.append(reinterpret_cast<const char*>(&packet), sizeof packet);
  to.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

CaptureServer::CaptureServer(Router router)
    : router_(std::move(router)),
      wake_(::eventfd(0, EFD_CLOEXEC)),
      thread_(background_thread([this](const std::stop_token& stop) { serve(stop); })) {}

CaptureServer::~CaptureServer() {
  thread_.request_stop();
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void CaptureServer::begin(CaptureRequest request, std::vector<std::string> ports, Fd& socket) {
  const std::scoped_lock lock(mutex_);
  if (!running_.empty())
    throw std::runtime_error(fmt::format("a capture of {} runs already: wait for its end", running_));
  running_ = request.what;
  next_.emplace(Session{std::move(request), std::move(ports), std::move(socket)});
  ::eventfd_write(wake_.get(), 1);
}

void CaptureServer::serve(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    eventfd_t count = 0;
    ::eventfd_read(wake_.get(), &count);
    std::optional<Session> session;
    {
      const std::scoped_lock lock(mutex_);
      session.swap(next_);
    }
    if (!session) continue;
    run(*session, stop);
    const std::scoped_lock lock(mutex_);
    running_.clear();
  }
}

// Stops the capture unless all workers answer.
void CaptureServer::run(Session& s, const std::stop_token& stop) {
  const Time start = router_.now();
  s.day = std::chrono::duration_cast<Duration>(router_.time_of_day(start).time_since_epoch()).count() -
          start.time_since_epoch().count();
  interrupted_.store(false, std::memory_order_relaxed);
  std::optional<std::string> why;
  if (!tap(s, true)) why = "a worker does not answer";
  if (!send(s, text({{"capturing", s.request.what}, {"ports", s.ports}, {"reasons", reasons()}}), 0))
    s.gone = true;
  while (!why) {
    pump(s);
    why = over(s, start + s.request.time, stop);
  }
  while (!tap(s, false)) {
  }
  Json end = {{"ended", *why}};
  std::uint64_t beyond_rate = 0, no_room = 0;
  for (const auto& t : s.taps) beyond_rate += t->beyond_rate(), no_room += t->no_room();
  for (bool more = true; more && !s.gone;) {
    fill(s);
    more = !s.batch.empty() && send(s, s.batch, 1000);
    s.batch.clear();
  }
  end["packets"] = s.packets;
  end["beyond_rate"] = beyond_rate;
  end["no_room"] = no_room;
  if (!s.gone) send(s, text(end), 1000);
}

bool CaptureServer::tap(Session& s, bool on) {
  bool all = true;
  if (on) {
    auto wish = std::make_shared<const CaptureWish>(s.request.wish);
    for (std::size_t w = 0; w < router_.workers; ++w)
      s.taps.push_back(std::make_unique<CaptureTap>(wish, router_.now()));
  }
  for (std::size_t w = 0; w < router_.workers; ++w)
    all = router_.set_tap(w, on ? s.taps[w].get() : nullptr) && all;
  return all;
}

// Waits for the client's word, for a turn at most.
std::optional<std::string> CaptureServer::over(Session& s, Time until, const std::stop_token& stop) const {
  pollfd client{s.socket.get(), POLLIN, 0};
  if (::poll(&client, 1, kTurnMs) > 0) {
    std::array<char, 16> word;
    const ssize_t n = ::recv(s.socket.get(), word.data(), word.size(), MSG_DONTWAIT);
    if (n > 0) return "stopped";
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) s.gone = true;
  }
  if (s.gone) return "the client has disconnected";
  if (stop.stop_requested()) return "the router stops";
  if (interrupted_.load(std::memory_order_relaxed)) return "a reload has changed the ports";
  if (router_.now() >= until) return "time";
  return {};
}

void CaptureServer::pump(Session& s) {
  for (;;) {
    if (s.batch.empty()) fill(s);
    if (s.batch.empty() || !send(s, s.batch, 0)) return;
    s.batch.clear();
  }
}

// Takes the oldest packet of all workers first.
void CaptureServer::fill(Session& s) {
  while (s.batch.size() < kMostBatch) {
    CaptureTap* oldest = nullptr;
    for (const auto& t : s.taps)
      if (const CapturedPacket* p = t->ring().front();
          p != nullptr && (oldest == nullptr || p->time < oldest->ring().front()->time))
        oldest = t.get();
    if (oldest == nullptr) return;
    if (s.batch.empty()) s.batch = kCapturedPackets;
    const CapturedPacket* const p = oldest->ring().front();
    CapturedPacket header = *p;
    header.time += s.day;
    append(s.batch, header, PacketRing::bytes(p));
    oldest->ring().pop();
    ++s.packets;
  }
}

// false: there is no room, or no client.
bool CaptureServer::send(Session& s, const std::string& message, int patience_ms) {
  pollfd client{s.socket.get(), POLLOUT, 0};
  if (patience_ms > 0) ::poll(&client, 1, patience_ms);
  if (::send(s.socket.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return true;
  s.gone = s.gone || (errno != EAGAIN && errno != EINTR && errno != ENOBUFS);
  return false;
}

}  // namespace surety
