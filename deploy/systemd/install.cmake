# SPDX-License-Identifier: BSD-3-Clause
# surety.service and surety@NAME.service, one source, and surety-boot.service, as they are for the prefix that is installed to.
set(to $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/systemd/system)
set(SBINDIR ${CMAKE_INSTALL_PREFIX}/sbin)
foreach(UNIT surety surety@)
  string(REPLACE surety@ %i NAME ${UNIT})
  set(CONFIGURATION ${SURETY_SYSCONFDIR}/surety/${NAME}.yaml)
  message(STATUS "Installing: ${to}/${UNIT}.service")
  configure_file(${CMAKE_CURRENT_LIST_DIR}/surety.service.in ${to}/${UNIT}.service @ONLY)
endforeach()
message(STATUS "Installing: ${to}/surety-boot.service")
configure_file(${CMAKE_CURRENT_LIST_DIR}/surety-boot.service.in ${to}/surety-boot.service @ONLY)
