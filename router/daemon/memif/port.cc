// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/memif/port.h"

#include <fcntl.h>
#include <poll.h>
#include <rte_log.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

#include "router/process/confinement.h"

namespace surety::memif {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 3s;           // for a session to agree
constexpr auto kRetry = 50ms;            // a client's; and the least grain of all that is waited for
constexpr auto kPenalty = 1s;            // after a peer that broke the rules
constexpr auto kQuiet = 10s;             // between two lines about peers that were refused
constexpr std::size_t kMost = 16;        // conversations
constexpr unsigned kMostMessages = 128;  // per connection; the longest valid one has 50
constexpr std::size_t kTransmitLane = BurstGate::kLanes - 1;

}  // namespace

Port::Port(const Terms& terms, const std::string& path, bool server, rte_mempool& pool)
    : terms_(terms),
      path_(path),
      pool_(pool),
      listener_(server ? listen_at(path, kMost) : Fd()),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      receive_(terms.receive_queues),
      wakes_(terms.receive_queues) {
  if (!event_) throw std::system_error(errno, std::generic_category());
  thread_ = background_thread([this](const std::stop_token& stop) {
    Confinement::join_others();
    run(stop);
  });
}

Port::~Port() {
  thread_.request_stop();
  ::eventfd_write(event_.get(), 1);
  thread_.join();
  if (listener_) ::unlink(path_.c_str());
}

void Port::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Time now = Clock::now();
    tend(now);
    wait(now);
  }
  while (!conversations_.empty()) part(conversations_.begin(), "closed");
}

void Port::tend(Time now) {
  if (const Fault fault = fault_.exchange(nullptr, std::memory_order_relaxed);
      fault != nullptr && live_ != conversations_.end())
    refuse(live_, fault, now);
  for (auto c = conversations_.begin(); c != conversations_.end();) {
    const auto each = c++;
    if (each != live_ && each->until < now) part(each, "too slow");
  }
  if (!listener_ && conversations_.empty() && now >= not_before_) call(now);
}

bool Port::lets_in(Time now) const {
  return listener_ && conversations_.size() < kMost && now >= not_before_;
}

void Port::wait(Time now) {
  std::vector<pollfd> waits{{event_.get(), POLLIN, 0}, {lets_in(now) ? listener_.get() : -1, POLLIN, 0}};
  for (const auto& c : conversations_) waits.push_back({c.socket.get(), POLLIN, 0});
  const bool settled =
      live_ != conversations_.end() ? conversations_.size() == 1 : listener_ && conversations_.empty();
  const int patience = settled && now >= not_before_ ? -1 : static_cast<int>(kRetry / 1ms);
  if (::poll(waits.data(), waits.size(), patience) <= 0) return;
  eventfd_t ignored;
  ::eventfd_read(event_.get(), &ignored);
  auto c = conversations_.begin();
  for (std::size_t i = 2; i < waits.size(); ++i) {
    const auto each = c++;
    if (waits[i].revents != 0) handle(each);
  }
  if (waits[1].revents != 0) let_in(Clock::now());  // the wait may have been long
}

void Port::let_in(Time now) {
  Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) not_before_ = now + kRetry;  // no descriptors are left
  if (socket) begin(std::move(socket), serve(terms_), now);
}

void Port::call(Time now) {
  not_before_ = now + kRetry;
  Fd socket = connect_to(path_);
  if (socket) begin(std::move(socket), request(terms_), now);
}

void Port::begin(Fd socket, std::unique_ptr<Session> session, Time now) {
  conversations_.push_back({std::move(socket), std::move(session), now + kPatience});
  if (!say(conversations_.back())) conversations_.pop_back();
}

bool Port::say(Conversation& to) {
  const auto replies = to.session->take_replies();
  return std::all_of(replies.begin(), replies.end(),
                     [&](const auto& s) { return send(to.socket.get(), s.message, s.fd); });
}

bool Port::claimed_by_another(const Conversation& than) const {
  return std::any_of(conversations_.begin(), conversations_.end(),
                     [&](const Conversation& c) { return &c != &than && c.session->claims(); });
}

void Port::handle(Conversations::iterator from) {
  auto received = memif::receive(from->socket.get());
  if (!received || received->message.type == Type::disconnect) return part(from, "gone");
  try {
    if (++from->heard > kMostMessages) throw Refusal("too many messages");
    if (received->message.type == Type::init && claimed_by_another(*from)) throw Refusal("already connected");
    from->session->handle(std::move(*received));
    if (from->session->agreed() && from != live_) connect(from);
    if (!say(*from)) part(from, "gone");
  } catch (const std::runtime_error& e) {
    refuse(from, e.what(), Clock::now());
  }
}

// Sets up the link before the peer is notified.
void Port::connect(Conversations::iterator with) {
  link_ = with->session->take_link();
  live_ = with;
  const auto is_eventfd = [this](const Fd& fd) {
    return !fd || !doorbell_.able() || doorbell_.ring(fd.get());
  };
  if (!is_eventfd(link_.transmit_event) ||
      !std::all_of(link_.receive_events.begin(), link_.receive_events.end(), is_eventfd))
    throw Refusal("ring with a descriptor that is not an eventfd");
  for (std::size_t q = 0; q < receive_.size(); ++q) {
    receive_[q] = q < link_.receive.size() && link_.receive[q].ring
                      ? ReceiveQueue(link_.memory, link_.receive[q], pool_)
                      : ReceiveQueue();
    if (!receive_[q].ring()) continue;
    receive_[q].ring().set_interrupts(doorbell_.able());
    if (doorbell_.able()) wakes_[q].follow(link_.receive_events[q].get());
  }
  transmit_ = link_.transmit.ring ? TransmitQueue(link_.memory, link_.transmit) : TransmitQueue();
  connected_.store(true, std::memory_order_relaxed);
  gate_.open();
}

void Port::disconnect() {
  gate_.shut();
  connected_.store(false, std::memory_order_relaxed);
  fault_.store(nullptr, std::memory_order_relaxed);
  for (std::size_t q = 0; q < link_.receive_events.size(); ++q)
    wakes_[q].leave(link_.receive_events[q].get());
  receive_.assign(receive_.size(), {});
  transmit_ = {};
  link_ = {};
  live_ = conversations_.end();
}

// The reason reaches a peer that still listens.
void Port::part(Conversations::iterator from, const char* why) {
  if (from == live_) disconnect();
  Disconnect disconnect{};
  copy_text(disconnect.reason, why);
  send(from->socket.get(), Message::of(disconnect));
  conversations_.erase(from);
}

void Port::refuse(Conversations::iterator whom, const char* why, Time now) {
  report(*whom, why, now);
  if (whom == live_) not_before_ = now + kPenalty;
  part(whom, why);
}

void Port::report(const Conversation& of, const char* why, Time now) {
  const bool was_live = live_ != conversations_.end() && &of == &*live_;
  if (!was_live && quiet_until_ > now) return;
  if (!was_live) quiet_until_ = now + kQuiet;
  const ucred peer = peer_of(of.socket.get());
  rte_log(RTE_LOG_ERR, RTE_LOGTYPE_USER1, "memif %s: process %d of user %u: %s\n", path_.c_str(), peer.pid,
          peer.uid, why);
}

// The workers' side: each call is one pass through its lane of the gate.

std::size_t Port::receive(std::uint16_t queue, std::span<rte_mbuf*> room) {
  if (!gate_.enter(queue)) return 0;
  ReceiveQueue& q = receive_[queue];
  const std::size_t n = q.receive(room);
  if (n > 0 && q.ring().interrupts()) [[unlikely]]
    q.ring().set_interrupts(false);  // the receiver is awake
  if (const auto oversized = q.take_oversized(); oversized > 0) [[unlikely]]
    missed_.fetch_add(oversized, std::memory_order_relaxed);
  if (q.fault() != nullptr) [[unlikely]]
    blame(q.fault());
  gate_.leave(queue);
  return n;
}

std::size_t Port::transmit(std::span<rte_mbuf*> burst) {
  if (!gate_.enter(kTransmitLane)) return 0;
  const std::size_t n = transmit_.transmit(burst);
  if (n > 0) {
    // Either this read returns that the receiver sleeps, or the receiver reads the published index.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (transmit_.ring().interrupts()) doorbell_.ring(link_.transmit_event.get());
  }
  if (transmit_.fault() != nullptr) [[unlikely]]
    blame(transmit_.fault());
  gate_.leave(kTransmitLane);
  return n;
}

void Port::arm(std::uint16_t queue) {
  if (!gate_.enter(queue)) return;
  const ReceiveQueue& q = receive_[queue];
  if (q.ring()) {
    q.ring().set_interrupts(true);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (q.waits()) wakes_[queue].ring();
  }
  gate_.leave(queue);
}

void Port::disarm(std::uint16_t queue) {
  wakes_[queue].calm();
  if (!gate_.enter(queue)) return;
  if (receive_[queue].ring()) receive_[queue].ring().set_interrupts(false);
  gate_.leave(queue);
}

// The thread takes the link down. Notified once.
void Port::blame(Fault fault) {
  if (fault_.load(std::memory_order_relaxed) != nullptr) return;
  fault_.store(fault, std::memory_order_relaxed);
  ::eventfd_write(event_.get(), 1);
}

namespace {
constexpr unsigned kKept = 64;
}  // namespace

Doorbell::Doorbell() : null_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  if (::syscall(SYS_io_setup, kKept, &context_) != 0) context_ = 0;
}

Doorbell::~Doorbell() {
  if (context_ != 0) ::syscall(SYS_io_destroy, context_);
}

bool Doorbell::ring(int eventfd) {
  if (context_ == 0) return false;
  if (rung_ == kKept) forget();
  iocb request{};
  request.aio_lio_opcode = IOCB_CMD_PREAD;
  request.aio_fildes = static_cast<std::uint32_t>(null_.get());
  request.aio_flags = IOCB_FLAG_RESFD;
  request.aio_resfd = static_cast<std::uint32_t>(eventfd);
  iocb* const requests = &request;
  const bool rung = ::syscall(SYS_io_submit, context_, 1, &requests) == 1;
  rung_ += rung ? 1 : 0;
  return rung;
}

void Doorbell::forget() {
  std::array<io_event, kKept> events;
  timespec now{};
  ::syscall(SYS_io_getevents, context_, 0, kKept, events.data(), &now);
  rung_ = 0;
}

}  // namespace surety::memif
