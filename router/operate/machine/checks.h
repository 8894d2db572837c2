// SPDX-License-Identifier: BSD-3-Clause
// The checks of doctor, by subject; each array is in the file of its name.
#pragma once

#include <span>

#include "router/operate/machine/doctor.h"

namespace surety::machine {

std::span<const Check> checks_of_configuration();
std::span<const Check> checks_of_devices();
std::span<const Check> checks_of_memory();
std::span<const Check> checks_of_cores();
std::span<const Check> checks_of_kernel();
std::span<const Check> checks_of_running();

}  // namespace surety::machine
