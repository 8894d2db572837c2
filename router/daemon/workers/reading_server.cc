// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/reading_server.h"

#include <chrono>
#include <thread>
#include <utility>

#include "router/daemon/workers/signalling_reading.h"

namespace surety {

ReadingServer::ReadingServer(Reading blank, const Snapshot& snapshot, const Ingress& ingress,
                             SignallingCopy copy, TreeCopy tree, Fill fill, FillSome fill_some)
    : ingress_(ingress),
      snapshot_(&snapshot),
      fill_(std::move(fill)),
      fill_some_(std::move(fill_some)),
      signalling_(std::move(copy)),
      tree_(tree),
      reading_(std::move(blank)) {}

void ReadingServer::start() {
  const std::scoped_lock lock(mutex_);  // waits for callers that copy themselves
  running_.store(true, std::memory_order_release);
}

void ReadingServer::begin() {
  signalling_.start();
  tree_.start(reading_);
  rows_ = 0;
}

bool ReadingServer::step(Time now) {
  return signalling_.step(now) && tree_.step(reading_, *snapshot_) && fill_some_(reading_, *snapshot_, rows_);
}

void ReadingServer::answer(Time now) {
  const std::uint64_t asked = asked_.load(std::memory_order_acquire);
  if (std::exchange(copying_for_, asked) != asked) begin();
  if (!step(now)) return;
  fill_(reading_, *snapshot_);
  answered_.store(asked, std::memory_order_release);
}

std::optional<Reading> ReadingServer::read(Sleeper& sleeper, const TscClock& clock) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t question = asked_.fetch_add(1, std::memory_order_acq_rel) + 1;
  sleeper.wake();
  for (int waited_us = 0; running_.load(std::memory_order_acquire); waited_us += 20) {
    if (answered_.load(std::memory_order_acquire) == question) return named();
    if (waited_us > 1'000'000) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return read_here(clock.now());
}

const Reading& ReadingServer::read_here(Time now) {
  begin();
  while (!step(now)) {
  }
  fill_(reading_, *snapshot_);
  return named();
}

const Reading& ReadingServer::named() {
  reading_.signalling = read_signalling(signalling_.numbers(), ingress_, *snapshot_);
  name_members(reading_, *snapshot_);
  return reading_;
}

void ReadingServer::adopt(Reading& blank, std::vector<SignallingNumbers::Queue>& queues,
                          const Snapshot& snapshot) {
  std::swap(reading_, blank);
  signalling_.adopt(queues);
  snapshot_ = &snapshot;
  tree_.start(reading_);  // a copy in progress starts again
  rows_ = 0;
}

}  // namespace surety
