// SPDX-License-Identifier: BSD-3-Clause
// The frames of one link as a pcapng file, both directions, stamped with virtual time:
// the run starts at 1970-01-01.
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>

#include "tests/lab/simulation/run_options.h"

namespace surety::lab {

// Nanosecond stamps; what goes from the link's first end to its second is marked
// outbound, the other way inbound.
class PcapngWriter : public LinkTap {
 public:
  // `link` becomes the interface's name. Throws std::system_error when the file cannot be made.
  PcapngWriter(const std::string& path, const std::string& link);
  void on_frame(std::size_t link, int direction, std::span<const std::uint8_t> frame, Time now) override;
  // Throws std::system_error when not all could be written. Without it the destructor
  // closes the file, silently.
  void close();

 private:
  void write(const std::string& block);
  std::string path_;
  std::ofstream file_;
};

}  // namespace surety::lab
