// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "router/process/human.h"

namespace surety::lab {

namespace {

constexpr std::size_t kBar = 30, kColumns = 80;
constexpr double kRedraw_s = 0.1, kEstimate_s = 1;

std::size_t columns_of(std::FILE* terminal) {
  winsize size{};
  const bool known = ioctl(fileno(terminal), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kColumns;
}

std::string runs_text(std::size_t n) {
  return fmt::format("{} {}", n, n == 1 ? "run" : "runs");
}

}  // namespace

std::string progress_line(double part, std::size_t done, std::size_t runs, double elapsed_s,
                          std::size_t columns) {
  part = std::clamp(part, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(part * static_cast<double>(kBar));
  std::string line =
      fmt::format("[{:#<{}}{:-<{}}] {:3} %", "", full, "", kBar - full, static_cast<int>(part * 100));
  if (runs > 1) line += fmt::format(", {} of {}", done, runs_text(runs));
  if (elapsed_s >= kEstimate_s && part > 0)
    line += fmt::format(", {} left", human::elapsed(elapsed_s / part - elapsed_s));
  return line.substr(0, columns);
}

std::string speed_line(std::size_t runs, std::uint64_t events, std::uint64_t hops, double elapsed_s) {
  const auto million_per_s = [&](std::uint64_t n) {
    return elapsed_s > 0 ? static_cast<double>(n) / elapsed_s / 1e6 : 0;
  };
  return fmt::format("{} in {:.3f} s: {:.2f} million events/s, {:.2f} million hops/s", runs_text(runs),
                     elapsed_s, million_per_s(events), million_per_s(hops));
}

Stopwatch::Stopwatch() : started_(std::chrono::steady_clock::now().time_since_epoch().count()) {}

double Stopwatch::elapsed_s() const {
  using std::chrono::steady_clock;
  const steady_clock::duration d(steady_clock::now().time_since_epoch().count() - started_);
  return std::chrono::duration<double>(d).count();
}

ProgressBar::ProgressBar(std::FILE* file, std::size_t runs)
    : file_(file), terminal_(isatty(fileno(file)) == 1), runs_(runs) {}

void ProgressBar::advance(double part) {
  if (!terminal_) return;
  const double now_s = watch_.elapsed_s();
  if (last_s_ >= 0 && now_s - last_s_ < kRedraw_s) return;
  last_s_ = now_s;
  const auto line = progress_line(part, done_, runs_, now_s, columns_of(file_) - 1);
  fmt::print(file_, "\r\033[K{}", line);
  std::fflush(file_);
  drawn_ = true;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  fmt::print(file_, "\r\033[K");
  std::fflush(file_);
  drawn_ = false;
}

}  // namespace surety::lab
