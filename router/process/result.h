// SPDX-License-Identifier: BSD-3-Clause
// A value, or the reason why there is none, in words for the operator: what calls into the kernel return.
#pragma once

#include <string>
#include <system_error>
#include <utility>
#include <variant>

namespace surety {

struct Failure {
  std::string reason;
};

// "what: No such device", for an errno value.
inline Failure failure(const std::string& what, int error) {
  return {what + ": " + std::generic_category().message(error)};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failed) : state_(std::in_place_index<1>, std::move(failed)) {}

  explicit operator bool() const { return state_.index() == 0; }
  // Only of a success.
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  // Only of a failure.
  const std::string& error() const { return std::get<1>(state_).reason; }

 private:
  std::variant<T, Failure> state_;
};

using Status = Result<std::monostate>;
inline Status success() {
  return std::monostate{};
}

}  // namespace surety
