// SPDX-License-Identifier: BSD-3-Clause
// rte_intr_instance_alloc() and what fills it in, unchanged since DPDK 21.11.
#define ALLOW_EXPERIMENTAL_API

#include "router/dpdk/ports/memif_keeper.h"

#include <poll.h>
#include <rte_interrupts.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "router/dpdk/ports/memif_link.h"
#include "router/dpdk/ports/wake_fds.h"

namespace surety {

namespace {

using namespace std::chrono_literals;

constexpr auto kRetry = 50ms;
constexpr auto kOthers = 1s;  // what other drivers wait at most
// What is pending may stand behind our interrupt in the thread's list of events: then it is handled only
// after the thread has come back once.
constexpr int kPasses = 2;

using AskName = int (*)(int, sockaddr*, socklen_t*);

std::string path_of(int fd, AskName ask) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (ask(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return {address.sun_path, strnlen(address.sun_path, sizeof address.sun_path)};
}

}  // namespace

std::vector<int> control_sockets(const std::vector<std::string>& paths) {
  const auto ours = [&](const std::string& p) {
    return std::find(paths.begin(), paths.end(), p) != paths.end();
  };
  std::vector<int> found;
  for (const int fd : open_sockets(AF_UNIX))
    if (ours(path_of(fd, &::getsockname)) || ours(path_of(fd, &::getpeername))) found.push_back(fd);
  return found;
}

MemifKeeper& MemifKeeper::instance() {
  static auto* const one = new MemifKeeper;
  return *one;
}

MemifKeeper::MemifKeeper()
    : always_(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)), changed_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  rte_intr_handle* const handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
  const bool ready = always_ && changed_ && handle != nullptr &&
                     rte_intr_fd_set(handle, always_.get()) == 0 &&
                     rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT) == 0 &&
                     rte_intr_callback_register(handle, &MemifKeeper::interrupt, this) == 0;
  rte_intr_instance_free(handle);  // DPDK has a copy
  if (!ready) throw std::runtime_error("DPDK takes no interrupts here, and memif ports need one");
}

void MemifKeeper::add(MemifLink& link) {
  const std::scoped_lock lock(mutex_);
  links_.push_back(&link);
  link.tend(Clock::now());
  eventfd_write(changed_.get(), 1);
}

void MemifKeeper::remove(MemifLink& link) {
  const std::scoped_lock lock(mutex_);
  std::erase(links_, &link);
  eventfd_write(changed_.get(), 1);
}

void MemifKeeper::interrupt(void* self) {
  static_cast<MemifKeeper*>(self)->come_back();
}

void MemifKeeper::come_back() {
  if (passes_ > 0 && --passes_ > 0) return;
  let_in();
  watch();
  shut_out();
  passes_ = kPasses;
}

// Until the interrupt thread is wanted elsewhere.
void MemifKeeper::watch() {
  for (auto until = Clock::now() + kOthers; Clock::now() < until;) {
    tend();
    const auto links = paths();
    if (wait_for_control(links)) return;
    if (links.empty()) until = Clock::now() + kOthers;
  }
}

// True: somebody has something to say.
bool MemifKeeper::wait_for_control(const std::vector<std::string>& links) {
  std::vector<pollfd> waits{{changed_.get(), POLLIN, 0}};
  for (const int fd : control_sockets(links)) waits.push_back({fd, POLLIN, 0});
  const int ready = ::poll(waits.data(), waits.size(), links.empty() ? -1 : static_cast<int>(kRetry / 1ms));
  if (waits[0].revents == 0) return ready > 0;
  eventfd_t ignored;
  eventfd_read(changed_.get(), &ignored);
  return false;
}

std::vector<std::string> MemifKeeper::paths() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> all;
  for (const auto* l : links_) all.push_back(l->path());
  return all;
}

void MemifKeeper::tend() {
  const std::scoped_lock lock(mutex_);
  for (auto* l : links_) l->tend(Clock::now());
}

void MemifKeeper::shut_out() {
  const std::scoped_lock lock(mutex_);
  for (auto* l : links_) l->shut_out();
}

void MemifKeeper::let_in() {
  const std::scoped_lock lock(mutex_);
  for (auto* l : links_) l->let_in();
}

}  // namespace surety
