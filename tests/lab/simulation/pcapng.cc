// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/pcapng.h"

#include <cerrno>
#include <system_error>

#include "router/pipeline/capture/pcapng.h"

namespace surety::lab {

PcapngWriter::PcapngWriter(const std::string& path, const std::string& link)
    : path_(path), file_(path, std::ios::binary | std::ios::trunc) {
  if (!file_) throw std::system_error(errno, std::generic_category(), path_);
  write(pcapng::section_header("surety-lab") + pcapng::interface(link));
}

void PcapngWriter::on_frame(std::size_t, int direction, std::span<const std::uint8_t> frame, Time now) {
  using pcapng::Direction;
  write(pcapng::packet({.direction = direction == 0 ? Direction::outbound : Direction::inbound,
                        .nanoseconds = now.time_since_epoch().count(),
                        .length = static_cast<std::uint32_t>(frame.size()),
                        .captured = frame}));
}

void PcapngWriter::close() {
  errno = 0;
  file_.close();
  if (!file_) throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), path_);
}

void PcapngWriter::write(const std::string& block) {
  file_.write(block.data(), static_cast<std::streamsize>(block.size()));
}

}  // namespace surety::lab
