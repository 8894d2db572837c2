// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/customer_limits.h"

namespace surety {

namespace {
constexpr Credit kOne = kCreditPerByte;

// True if the bucket has one more than its lower half, which is kept for customers within their share.
bool half_full(const TokenBucket& bucket, const TokenBucketParams& params) {
  return bucket.credit() >= params.depth() / 2 + kOne;
}
}  // namespace

CustomerLimiter::CustomerLimiter(std::uint32_t per_second, std::uint32_t at_once, std::size_t ports, Time now)
    : sharing_(ports), ports_(ports), customers_(ports * kParts) {
  adjust(per_second, at_once);
  all_.reset(of_all_, now);
  for (TokenBucket& b : ports_) b.reset(of_port_, now);
  for (TokenBucket& b : customers_) b.reset(of_customer_, now);
}

void CustomerLimiter::share_among(std::size_t ports) {
  sharing_ = ports;
  adjust(per_second_, at_once_);
}

void CustomerLimiter::adjust(std::uint32_t per_second, std::uint32_t at_once) {
  per_second_ = per_second;
  at_once_ = at_once;
  const auto params = [&](std::size_t of) -> TokenBucketParams {
    const auto part = [&](std::uint32_t all, std::uint32_t least) {
      return std::max(least, all / static_cast<std::uint32_t>(of));
    };
    return {Rate::bytes_per_second(part(per_second, 1)),
            Depth::bytes(part(2 * at_once, of == 1 ? 1 : kLeastAtOnce))};
  };
  of_all_ = params(1);
  of_port_ = params(sharing_);
  of_customer_ = params(sharing_ * kOfPort);
}

CustomerLimiter::Buckets CustomerLimiter::buckets(Customer customer, Time now) const {
  Buckets b{all_, ports_[port_of(customer)], customers_[customer]};
  b.all.fill(of_all_, now);
  b.port.fill(of_port_, now);
  b.own.fill(of_customer_, now);
  return b;
}

CustomerLimiter::Answer CustomerLimiter::judge(const Buckets& b) const {
  const bool of_own = b.own.can_take(of_customer_, kOne), of_port = b.port.can_take(of_port_, kOne);
  const bool within_port = of_port && (of_own || half_full(b.port, of_port_));
  return {b.all.can_take(of_all_, kOne) && (within_port || half_full(b.all, of_all_)), within_port, of_own};
}

bool CustomerLimiter::would_permit(Customer customer, Time now) const {
  return judge(buckets(customer, now)).permitted;
}

bool CustomerLimiter::permit(Customer customer, Time now) {
  Buckets b = buckets(customer, now);
  const Answer answer = judge(b);
  if (answer.permitted) {
    b.all.charge(kOne);
    if (answer.within_port) b.port.charge(kOne);
    if (answer.of_own) b.own.charge(kOne);
  }
  all_ = b.all;
  ports_[port_of(customer)] = b.port;
  customers_[customer] = b.own;
  return answer.permitted;
}

}  // namespace surety
