surety_test(unit_conditioners
  unit/ard_marker_test.cc
  unit/csa_controller_test.cc
  unit/drop_reason_test.cc
  unit/enhanced_token_bucket_test.cc
  unit/rate_meter_test.cc
  unit/release_wheel_test.cc
  unit/rng_test.cc
  unit/token_bucket_test.cc
  unit/units_test.cc
  LIBS conditioners)
