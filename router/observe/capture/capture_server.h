// SPDX-License-Identifier: BSD-3-Clause
// Runs captures in a router, one at a time: a thread that sleeps while there is none, and else brings what
// the workers copy to the client that asked. The client writes the file, with its own permissions.
//
// On the client's socket, a message each: how it begins; packets, 'P' and then records, each a CapturedPacket
// and its bytes, with the time as that of the day; how it ended. The client ends it by `stop`, or by going
// away; else its time does, or a reload that changes the ports. Nobody waits for a client that does not read:
// what finds no room is counted, and not captured.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "router/observe/capture/capture_request.h"
#include "router/observe/reading_json.h"
#include "router/process/fd.h"
#include "router/signals/unix_time.h"

namespace surety {

inline constexpr const char* kCaptureCommand = "/surety/capture";
inline constexpr char kCapturedPackets = 'P';
inline constexpr std::string_view kStopCapture = "stop";

class CaptureServer {
 public:
  // What it needs of its router.
  struct Router {
    std::size_t workers = 1;
    std::function<bool(std::size_t worker, CaptureTap* tap)> set_tap;  // false: it does not answer
    std::function<Time()> now;
    std::function<UnixTime(Time)> time_of_day;
  };
  explicit CaptureServer(Router router);
  ~CaptureServer();
  CaptureServer(const CaptureServer&) = delete;
  CaptureServer& operator=(const CaptureServer&) = delete;

  // From any thread. Takes the socket, and answers by it. Throws std::runtime_error where another capture
  // runs.
  void begin(CaptureRequest request, std::vector<std::string> ports, Fd& socket);
  // From any thread: the ports are not what they were.
  void interrupt() { interrupted_.store(true, std::memory_order_relaxed); }

 private:
  struct Session {
    CaptureRequest request;
    std::vector<std::string> ports;
    Fd socket;
    std::vector<std::unique_ptr<CaptureTap>> taps{};
    std::string batch{};  // not sent yet
    std::size_t packets = 0;
    std::int64_t day = 0;  // what is to be added to the router's clock
    bool gone = false;     // nobody reads any more
  };
  void serve(const std::stop_token& stop);
  void run(Session& s, const std::stop_token& stop);
  bool tap(Session& s, bool on);
  std::optional<std::string> over(Session& s, Time until, const std::stop_token& stop) const;
  static void pump(Session& s);
  static void fill(Session& s);
  static bool send(Session& s, const std::string& message, int patience_ms);

  const Router router_;
  const Fd wake_;
  std::mutex mutex_;  // of the next two
  std::optional<Session> next_;
  std::string running_;  // what; empty: nothing
  std::atomic<bool> interrupted_{false};
  std::jthread thread_;
};

}  // namespace surety
