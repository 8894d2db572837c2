// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/telemetry.h"

#include <rte_telemetry.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "router/observe/telemetry_wire.h"

namespace surety {
namespace {

constexpr std::string_view kRoot = "/surety/";

// DPDK's callbacks carry no user data, and cannot be taken back.
struct Shared {
  std::mutex mutex;
  std::function<Reading()> read;
  std::optional<Reading> last;
};
Shared& shared() {
  static Shared instance;
  return instance;
}

// DPDK 23.03 gave these two functions other names. Templates, so that of the names only one has to be known.
template <class Data>
void add_number(Data* array, std::uint64_t value) {
  if constexpr (requires { rte_tel_data_add_array_uint(array, value); }) {
    rte_tel_data_add_array_uint(array, value);
  } else {
    rte_tel_data_add_array_u64(array, value);
  }
}
template <class Data>
void add_number(Data* dict, const char* name, std::uint64_t value) {
  if constexpr (requires { rte_tel_data_add_dict_uint(dict, name, value); }) {
    rte_tel_data_add_dict_uint(dict, name, value);
  } else {
    rte_tel_data_add_dict_u64(dict, name, value);
  }
}

void fill(rte_tel_data* dict, const Json& object);

rte_tel_data* container(const Json& value) {
  rte_tel_data* data = rte_tel_data_alloc();
  if (data == nullptr) return nullptr;
  if (value.is_object()) {
    rte_tel_data_start_dict(data);
    fill(data, value);
  } else {
    rte_tel_data_start_array(data, RTE_TEL_U64_VAL);
    for (const Json& number : value) add_number(data, number.get<std::uint64_t>());
  }
  return data;
}

void fill(rte_tel_data* dict, const Json& object) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) {
      rte_tel_data_add_dict_string(dict, name.c_str(), value.get_ref<const std::string&>().c_str());
    } else if (value.is_number()) {
      add_number(dict, name.c_str(), value.get<std::uint64_t>());
    } else if (rte_tel_data* inner = container(value); inner != nullptr) {
      if (rte_tel_data_add_dict_container(dict, name.c_str(), inner, 0) != 0) rte_tel_data_free(inner);
    }
  }
}

std::optional<std::size_t> offset_of(const char* params) {
  if (params == nullptr || *params == '\0') return 0;
  std::size_t offset = 0;
  const char* end = params + std::strlen(params);
  const auto [stop, error] = std::from_chars(params, end, offset);
  if (error != std::errc() || stop != end) return std::nullopt;
  return offset;
}

int answer(const char* command, const char* params, rte_tel_data* data) try {
  const std::optional<std::size_t> offset = offset_of(params);
  if (!offset) return -EINVAL;
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  if (!s.read) return -ENODEV;
  if (*offset == 0 || !s.last) s.last = s.read();
  rte_tel_data_start_dict(data);
  fill(data, page(table(*s.last, std::string_view(command).substr(kRoot.size())), *offset));
  return 0;
} catch (const std::exception&) {
  return -ENOMEM;  // nothing may be thrown through DPDK's C code
}

bool register_commands() {
  for (const std::string_view table : kTables) {
    const std::string command = std::string(kRoot) + std::string(table);
    if (rte_telemetry_register_cmd(command.c_str(), answer,
                                   "Rows of a table. Parameter: first row (see next)") != 0)
      return false;
  }
  return true;
}

}  // namespace

Telemetry::Telemetry(std::function<Reading()> read) {
  static const bool registered = register_commands();
  ok_ = registered;
  const std::lock_guard lock(shared().mutex);
  shared().read = std::move(read);
}

Telemetry::~Telemetry() {
  const std::lock_guard lock(shared().mutex);
  shared().read = nullptr;
  shared().last.reset();
}

}  // namespace surety
