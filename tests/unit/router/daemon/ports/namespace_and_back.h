// SPDX-License-Identifier: BSD-3-Clause
// A network namespace for one test: the next test of the program has the devices of this machine again.
#pragma once

#include <fcntl.h>

#include "router/process/fd.h"
#include "tests/unit/router/daemon/linux/network_namespace.h"

namespace surety {

class InNamespaceAndBack : public InNetworkNamespace {
 protected:
  void TearDown() override { ASSERT_EQ(::setns(home_.get(), CLONE_NEWNET), 0) << std::strerror(errno); }

 private:
  Fd home_{::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)};
};

}  // namespace surety
