# SPDX-License-Identifier: BSD-3-Clause
# Writes the schema into a C++ file, so that the program needs none beside it: cmake -DOUT=... -DSCHEMA=... -P embed.cmake
file(READ "${SCHEMA}" schema)
file(WRITE "${OUT}" "// Made by tests/lab/scenario/embed.cmake.
#include \"tests/lab/scenario/scenario_schema.h\"

namespace surety::lab {
const std::string_view kScenarioSchema = R\"EMBED(${schema})EMBED\";
}  // namespace surety::lab
")
