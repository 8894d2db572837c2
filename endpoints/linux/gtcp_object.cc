// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/linux/gtcp_object.h"

// SURETY_GTCP_OBJECT is the file's name, from the build.
asm(".pushsection .rodata\n"
    ".balign 8\n"
    ".global surety_gtcp_object_begin, surety_gtcp_object_end\n"
    "surety_gtcp_object_begin:\n"
    ".incbin \"" SURETY_GTCP_OBJECT
    "\"\n"
    "surety_gtcp_object_end:\n"
    ".popsection\n");

extern "C" {
extern const std::byte surety_gtcp_object_begin[];
extern const std::byte surety_gtcp_object_end[];
}

namespace surety::endpoints {

std::span<const std::byte> gtcp_object() {
  return {surety_gtcp_object_begin, surety_gtcp_object_end};
}

}  // namespace surety::endpoints
