// SPDX-License-Identifier: BSD-3-Clause
// "did you mean": the nearest of the words that exist.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace surety::config {

// Optimal string alignment distance (insert, delete, replace, swap neighbours);
// letters differ whatever their case costs 0.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest candidate within a third of the word's length (at most 3); empty when none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// "; did you mean `lan0`?" or "; there are: a, b" or, with no candidates, "; there are none".
std::string hint(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace surety::config
