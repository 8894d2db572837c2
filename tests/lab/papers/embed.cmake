# SPDX-License-Identifier: BSD-3-Clause
# Writes a C++ file with the texts of files in it: cmake -DOUT=... -DROOT=... -DSCHEMA=... -DFILES="a.yaml;b.yaml" -P embed.cmake
set(text "// Made by tests/lab/papers/embed.cmake.\n#include \"tests/lab/papers/embedded.h\"\n\nnamespace surety::lab {\n\n")
file(READ "${SCHEMA}" schema)
string(APPEND text "const std::string_view kScenarioSchema = R\"EMBED(${schema})EMBED\";\n\nnamespace {\nconst EmbeddedFile kPapers[] = {\n")
string(REPLACE "|" ";" files "${FILES}")
foreach(file IN LISTS files)
  file(READ "${ROOT}/${file}" content)
  string(APPEND text "{\"${file}\", R\"EMBED(${content})EMBED\"},\n")
endforeach()
string(APPEND text "};\n}  // namespace\n\nstd::span<const EmbeddedFile> embedded_papers() {\n  return kPapers;\n}\n\n}  // namespace surety::lab\n")
file(WRITE "${OUT}" "${text}")
