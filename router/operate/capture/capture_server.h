// SPDX-License-Identifier: BSD-3-Clause
// The router's end of `surety capture`: the request of a client, and the server that runs it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "router/operate/observe/reading_json.h"
#include "router/pipeline/capture/capture_tap.h"
#include "router/pipeline/signals/unix_time.h"
#include "router/process/fd.h"

namespace surety {

// The request of `surety capture`: which packets, how many, for how long.
//
//   lan0 source=10.1.0.0/16 protocol=udp rate=10000 snap=256 seconds=60
//   drops reason=early,forced destination=10.2.0.1
//
// The first word is `drops`, a port, an interface, or a customer (all current interfaces of the customer),
// looked up in this order. The others are the fields of a `match`, and limits.
struct CaptureRequest {
  static constexpr std::uint32_t kMostRate = 100'000, kMostSnap = 16'384, kMostSeconds = 86'400;
  std::string what{};  // for messages
  CaptureWish wish{};
  Duration time = std::chrono::seconds(60);
};

// Throws std::runtime_error, one sentence, if the request is invalid.
CaptureRequest parse_capture(std::string_view text, std::shared_ptr<const Interfaces> interfaces);

inline constexpr const char* kCaptureCommand = "/surety/capture";
inline constexpr char kCapturedPackets = 'P';
inline constexpr std::string_view kStopCapture = "stop";

// Runs captures in a router, one at a time: a thread that sleeps while there is none, and else sends the
// workers' copies to the client. The client writes the file, with its own permissions.
//
// Messages on the client's socket: the start; packets, 'P' and then records, each a CapturedPacket and its
// bytes, with the time of day; the result. A capture ends when the client sends `stop` or disconnects, after
// its time, or at a reload that changes the ports. A client that does not read delays nothing: packets
// without room are counted, and not captured.
class CaptureServer {
 public:
  // The capture's interface to its router.
  struct Router {
    std::size_t workers = 1;
    std::function<bool(std::size_t worker, CaptureTap* tap)> set_tap;  // false: the worker does not answer
    std::function<Time()> now;
    std::function<UnixTime(Time)> time_of_day;
  };
  explicit CaptureServer(Router router);
  ~CaptureServer();
  CaptureServer(const CaptureServer&) = delete;
  CaptureServer& operator=(const CaptureServer&) = delete;

  // Starts a capture, takes over the socket, and answers on it. Thread-safe. Throws std::runtime_error if
  // another capture is running.
  void begin(CaptureRequest request, std::vector<std::string> ports, Fd& socket);
  // Ends the capture because the ports have changed. Thread-safe.
  void interrupt() { interrupted_.store(true, std::memory_order_relaxed); }

 private:
  struct Session {
    CaptureRequest request;
    std::vector<std::string> ports;
    Fd socket;
    std::vector<std::unique_ptr<CaptureTap>> taps{};
    std::string batch{};  // not sent yet
    std::size_t packets = 0;
    std::int64_t day = 0;  // offset from the router's clock to the time of day
    bool gone = false;     // the client has disconnected
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
  std::mutex mutex_;  // guards next_ and running_
  std::optional<Session> next_;
  std::string running_;  // the request; empty: none
  std::atomic<bool> interrupted_{false};
  std::jthread thread_;
};

}  // namespace surety
