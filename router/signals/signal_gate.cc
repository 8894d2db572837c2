// SPDX-License-Identifier: BSD-3-Clause
#include "router/signals/signal_gate.h"

namespace surety {

namespace {
std::array<std::uint8_t, 16> secret_of(const SignalKeys& keys) {
  return keys.keys.empty() ? std::array<std::uint8_t, 16>{} : keys.keys.front().bytes;
}
}  // namespace

SignalGate::SignalGate(const config::Signalling& params, std::uint32_t id, const SignalKeys& keys)
    : keys_(&keys),
      id_(id),
      max_age_(std::chrono::duration_cast<std::chrono::milliseconds>(params.max_age)),
      sources_(params.source_limit, secret_of(keys)),
      history_(params.max_age) {}

SignalResult SignalGate::judge(std::span<const std::uint8_t> ip, Time now, UnixTime wall,
                               CongestionSignal& out) {
  SignalMessage m;
  if (const auto result = read_signal(ip, m); result != SignalResult::applied) return result;
  if (id_ != 0 && m.router == id_) return SignalResult::reflected;
  if (!sources_.permit(m.from, now)) return SignalResult::limited;
  const SignalKey* const key = keys_->find(m.key_id);
  if (!key) return SignalResult::unknown_key;
  if (!is_authentic(ip, m, *key)) return SignalResult::forged;
  if (m.sent < wall - max_age_ || m.sent > wall + max_age_) return SignalResult::stale;
  const auto result = history_.accept(m, now);
  if (result == SignalResult::applied)
    out = {m.source, m.destination, m.port, m.queue, m.dscp, now, {}, m.kind};
  return result;
}

std::vector<SignalGate::Sender> SignalGate::senders() const {
  std::vector<Sender> out;
  for (const auto& s : history_.all()) out.push_back(reading_of(s));
  return out;
}

}  // namespace surety
