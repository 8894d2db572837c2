surety_test(unit_aqm
  unit/red_curve_test.cc
  unit/rio_test.cc
  unit/active_queue_adopt_test.cc
  unit/active_queue_test.cc
  unit/class_scheduler_test.cc
  unit/port_shaper_test.cc
  LIBS aqm)
