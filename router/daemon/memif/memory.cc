// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/memif/memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <numeric>
#include <system_error>

namespace surety::memif {

namespace {

// Huge pages punched out of a file may not be available again; those of tmpfs are.
bool has_ordinary_pages(int fd) {
  struct statfs file {};
  return ::fstatfs(fd, &file) == 0 && file.f_type == TMPFS_MAGIC;
}

bool sealed(int fd) {
  ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);  // if its owner has left it to this process
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

bool has_bytes(int fd, std::uint64_t size) {
  struct stat file {};
  return ::fstat(fd, &file) == 0 && file.st_size >= 0 && static_cast<std::uint64_t>(file.st_size) >= size;
}

}  // namespace

Memory::~Memory() {
  for (const Region& r : regions_) ::munmap(r.base, r.size);
}

void Memory::add(const Fd& file, std::uint64_t size) {
  const auto sum = [](std::uint64_t n, const Region& r) { return n + r.size; };
  const std::uint64_t mapped = std::accumulate(regions_.begin(), regions_.end(), std::uint64_t{0}, sum);
  if (regions_.size() == kMostRegions) throw Refusal("too many regions");
  if (size == 0 || size > kMostBytes - mapped) throw Refusal("region empty or too large");
  if (!file) throw Refusal("region without a descriptor");
  if (!sealed(file.get()) || !has_ordinary_pages(file.get()))
    throw Refusal("region that can shrink: use a memfd with F_SEAL_SHRINK, without hugepages (no zero-copy)");
  if (!has_bytes(file.get(), size)) throw Refusal("region larger than its file");
  regions_.reserve(regions_.size() + 1);
  void* const base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (base == MAP_FAILED) throw Refusal("region that cannot be mapped");
  regions_.push_back({static_cast<std::uint8_t*>(base), size});
}

Fd make_region(std::uint64_t size) {
  Fd file(::memfd_create("memif", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(size)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot make shared memory");
  return file;
}

}  // namespace surety::memif
