// SPDX-License-Identifier: BSD-3-Clause
// Numbers of several seeds as people read them: mean +- standard deviation, in one unit.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace surety::lab {

enum class Quantity { rate, duration, share, count, number };  // bit/s, seconds, 0..1, packets, anything

// "784.1 kbit/s"; shares as percent.
std::string shown(Quantity quantity, double value);

// A value for each seed, or none: shown() of a single one, else "784.1 +- 2.3 kbit/s"; " (18 of 20)" where
// some seeds have none; nothing where none has.
std::string spread(Quantity quantity, std::span<const std::optional<double>> seeds);

}  // namespace surety::lab
