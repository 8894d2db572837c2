// SPDX-License-Identifier: BSD-3-Clause
// What `surety-lab` shows while it works and when it has worked: on standard error,
// which may differ between machines.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace surety::lab {

// "[#####-----]  50 %, 3 of 6 runs, 12 s left", at most `columns` wide; what is left is estimated from what
// was done in `elapsed_s`, and not shown in the first second.
std::string progress_line(double part, std::size_t done, std::size_t runs, double elapsed_s,
                          std::size_t columns);

// "20 runs in 4.213 s: 5.12 million events/s, 8.31 million hops/s"
std::string speed_line(std::size_t runs, std::uint64_t events, std::uint64_t hops, double elapsed_s);

// The seconds since it was made.
class Stopwatch {
 public:
  Stopwatch();
  double elapsed_s() const;

 private:
  std::int64_t started_;
};

// Draws the line over itself, at most ten times a second, if `file` is a terminal;
// else nothing. Not thread-safe.
class ProgressBar {
 public:
  ProgressBar(std::FILE* file, std::size_t runs);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void advance(double part);
  void run_done() { ++done_; }
  // To be called before anything else is written to the terminal.
  void clear();

 private:
  std::FILE* file_;
  bool terminal_, drawn_ = false;
  std::size_t runs_, done_ = 0;
  double last_s_ = -1;
  Stopwatch watch_;
};

}  // namespace surety::lab
