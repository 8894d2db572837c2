// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace surety {

// Path of a compiled BPF program: beside the running executable, else in ../lib/surety/bpf/ from there.
// Empty: not found.
std::string bpf_object_path(std::string_view file);

}  // namespace surety
