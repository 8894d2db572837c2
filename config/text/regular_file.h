// SPDX-License-Identifier: BSD-3-Clause
// The one way to open a file from outside the program: texts of configurations, secrets, generations.
//
// Only regular files are opened, so that no FIFO, socket or device stops the thread that reads, and no device
// notices it: the inode is examined by a descriptor that reads nothing (O_PATH), and the same inode is then
// opened, without blocking, whatever its path leads to by then. Sizes are bounded.
//
// Descriptors that the caller has passed (/dev/stdin, /dev/fd/N) are the exception: they may be pipes, as in
// `surety check <(...)`, and are read to their end.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace surety::config {

// Handling of a symbolic link at the end of a path. An operator may link a configuration; a file that a
// program has written itself is never a link.
enum class Links : bool { refused, followed };

// A regular file, open for reading.
class RegularFile {
 public:
  explicit RegularFile(const std::string& path, Links links = Links::followed);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  // Why it is not open or could not be read, behind "cannot read PATH: "; empty: all went well.
  const std::string& error() const { return error_; }
  int descriptor() const { return fd_; }
  mode_t mode() const { return mode_; }
  // Up to `limit` + 1 bytes: one more than `limit` where the file is larger than that.
  std::string text(std::size_t limit);

 private:
  int fd_ = -1;
  mode_t mode_ = 0;
  std::string error_;
};

// "it is a FIFO, not a regular file"; empty: the descriptor is one of a regular file. For files that are
// opened to be written: with O_NONBLOCK, and examined by this.
std::string not_regular(int descriptor);

}  // namespace surety::config
