surety_test(unit_router_linux
  unit/ipv6_siblings_test.cc
  unit/netlink_commands_test.cc
  unit/netlink_message_test.cc
  unit/netlink_test.cc
  unit/punt_test.cc
  unit/steer_test.cc
  unit/tap_twin_test.cc
  LIBS router_linux)
