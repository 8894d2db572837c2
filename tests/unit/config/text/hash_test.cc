// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/hash.h"

#include <gtest/gtest.h>

namespace surety::config {
namespace {

// Vectors of the FNV reference (draft-eastlake-fnv, appendix C).
TEST(Hash, Fnv1a64) {
  EXPECT_EQ(hash_of(""), "cbf29ce484222325");
  EXPECT_EQ(hash_of("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(hash_of("foobar"), "85944171f73967e8");
}

}  // namespace
}  // namespace surety::config
