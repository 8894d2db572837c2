// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/show_again.h"

#include <fmt/format.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <iostream>

#include "config/text/quantity.h"

namespace surety {

namespace {

constexpr double kLeast = 0.1, kMost = 86'400;  // seconds
constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";

std::optional<double> number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

// Waits for signals that are blocked: they end it between two tables.
class Pause {
 public:
  explicit Pause(double seconds) : seconds_(seconds) {
    sigemptyset(&ending_);
    for (const int s : {SIGINT, SIGTERM}) sigaddset(&ending_, s);
    ::sigprocmask(SIG_BLOCK, &ending_, nullptr);
    ::signal(SIGPIPE, SIG_IGN);  // the stream reports a closed pipe
  }
  std::optional<double> operator()() {
    const timespec patience{
        static_cast<time_t>(seconds_),
        static_cast<long>((seconds_ - static_cast<double>(static_cast<time_t>(seconds_))) * 1e9)};
    if (::sigtimedwait(&ending_, nullptr, &patience) > 0) return std::nullopt;
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  double seconds_;
  sigset_t ending_{};
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

int show_again(ShowRequest request, const std::vector<std::string>& words) {
  double seconds = 1;
  for (const std::string& word : words)
    if (const auto n = number(word))
      seconds = *n;
    else if (const auto time = config::parse_time(word).value)
      seconds = std::chrono::duration<double>(*time).count();
    else
      request.selection.where.push_back(word);
  if (!(seconds >= kLeast && seconds <= kMost)) {
    std::cerr << fmt::format("surety show: --watch is from {} to {} seconds\n", kLeast, kMost);
    return 2;
  }
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  if (terminal && !request.json) std::cout << kClearScreen;
  return show(request, TelemetryClient(), std::cout, std::cerr, Pause(seconds),
              terminal ? kClearScreen : "\n");
}

}  // namespace surety
