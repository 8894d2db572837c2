#include "aqm/active_queue.h"

namespace surety {

ActiveQueue::ActiveQueue(const ActiveQueueParams& params, std::uint64_t seed)
    : slots_(std::make_unique<Slot[]>(std::bit_ceil(params.limit + 1))),
      mask_(std::bit_ceil(params.limit + 1) - 1),
      limit_(params.limit) {
  if (params.rio) rio_.emplace(*params.rio, seed);
}

}  // namespace surety
