// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/signal_gate.h"

namespace surety {

SignalGate::SignalGate(const config::Signalling& params, std::uint32_t id, const SignalKeys& keys,
                       std::optional<Start> start)
    : keys_(&keys),
      id_(id),
      start_(start),
      max_age_(std::chrono::duration_cast<std::chrono::milliseconds>(params.max_age)),
      history_(params.max_age, params.source_limit) {}

SignalResult SignalGate::judge(std::span<const std::uint8_t> ip, Time now, UnixTime wall,
                               CongestionSignal& out) {
  SignalMessage m;
  if (const auto result = read_signal(ip, m); result != SignalResult::applied) return result;
  if (id_ != 0 && m.router == id_) return SignalResult::reflected;
  const SignalKey* const key = keys_->find(m.router, m.key_id);
  if (!key) return SignalResult::unknown_key;
  if (!is_authentic(ip, m, *key)) return SignalResult::forged;
  if (m.sent < wall - max_age_ || m.sent > wall + max_age_) return SignalResult::stale;
  if (is_from_before(m.sent, now)) return SignalResult::stale;
  const SignalNumber number{m.router, m.port, m.queue, m.sequence, m.sent};
  const auto result = history_.accept(number, now);
  if (result == SignalResult::applied)
    out = {m.source, m.destination, m.port, m.queue, m.dscp, now, {}, m.kind, number};
  return result;
}

std::vector<SignalGate::Sender> SignalGate::senders() const {
  std::vector<Sender> out;
  for (const auto& s : history_.all()) out.push_back(reading_of(s));
  return out;
}

}  // namespace surety
