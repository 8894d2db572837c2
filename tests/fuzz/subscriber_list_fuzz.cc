// SPDX-License-Identifier: BSD-3-Clause
// Any text at all as a list of subscribers, CSV and JSON, and as an owner's file: it is refused, or the file
// that is written for it is read as the same list.
#include <cstdlib>

#include "router/operate/subscribers/shaped_devices.h"
#include "router/operate/subscribers/subscriber_list.h"

namespace {

using surety::BadList;
using surety::SubscriberList;

template <class Read>
void check(Read read, const std::string& text) try {
  const std::string file = read(text).file_of("owner");
  if (SubscriberList::from_file_of_owner(file).file_of("owner") != file) std::abort();
} catch (const BadList&) {
  return;  // refused
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(SubscriberList::from_csv, text);
  check(SubscriberList::from_json, text);
  check(
      [](const std::string& csv) {
        const auto records = surety::csv_records(csv);
        if (!surety::is_shaped_devices(records)) throw BadList("of another kind");
        return surety::from_shaped_devices(records, {.prefix = "x"});
      },
      text);
  if (surety::is_file_of_owner(text)) check(SubscriberList::from_file_of_owner, text);
  return 0;
}
