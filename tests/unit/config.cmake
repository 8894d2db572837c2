surety_test(unit_config
  unit/address_test.cc
  unit/broken_test.cc
  unit/check_test.cc
  unit/document_test.cc
  unit/examples_test.cc
  unit/hash_test.cc
  unit/names_test.cc
  unit/parse_test.cc
  unit/parse_hostile_test.cc
  unit/parse_port_workers_test.cc
  unit/parse_sections_test.cc
  unit/parse_signalling_test.cc
  unit/problems_test.cc
  unit/quantity_test.cc
  unit/reader_test.cc
  unit/reload_test.cc
  unit/schema_test.cc
  unit/suggest_test.cc
  LIBS config_endpoints)
add_test(NAME config_schema COMMAND /usr/bin/python3 ${CMAKE_SOURCE_DIR}/tests/functional/test_schema.py)
