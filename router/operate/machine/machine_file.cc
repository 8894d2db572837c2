// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/machine_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <stdexcept>

namespace surety::machine {

std::string text_of(const MachineFile& file) {
  std::string text =
      "# Written by `surety setup`, undone by `surety setup --undo`; `surety setup --boot` applies it.\n"
      "version: 1\nnics:\n";
  for (const TakenNic& n : file.nics)
    text += fmt::format("  - {{name: \"{}\", pci: \"{}\", mac: \"{}\", driver: \"{}\"}}\n", n.name, n.pci,
                        n.mac, n.driver);
  if (file.nics.empty()) text.insert(text.size() - 1, " []");
  text += "hugepages: {";  // pages of 2 MB, by NUMA node
  for (const auto& [node, pages] : file.hugepages)
    text += fmt::format("{}{}: {}", text.back() == '{' ? "" : ", ", node, pages);
  return text + fmt::format("}}\nisolated_cores: [{}]\n", text_of(file.isolated));
}

MachineFile read_machine_file(const Host& host) {
  MachineFile file;
  const auto text = host.read(kMachineFile);
  if (!text) return file;
  try {
    const YAML::Node root = YAML::Load(*text);
    const auto word = [](const YAML::Node& map, const char* key) { return map[key].as<std::string>(""); };
    for (const YAML::Node& n : root["nics"])
      file.nics.push_back({word(n, "name"), word(n, "pci"), word(n, "mac"), word(n, "driver")});
    for (const auto& node : root["hugepages"])
      file.hugepages[node.first.as<int>()] = node.second.as<unsigned>();
    for (const YAML::Node& core : root["isolated_cores"]) file.isolated.push_back(core.as<unsigned>());
  } catch (const YAML::Exception& e) {
    throw std::runtime_error(fmt::format("{}: {}; `surety setup` writes it again", kMachineFile, e.what()));
  }
  return file;
}

}  // namespace surety::machine
