# SPDX-License-Identifier: Apache-2.0
find_package(PkgConfig REQUIRED)

pkg_check_modules(curl REQUIRED IMPORTED_TARGET libcurl>=7.88)
pkg_check_modules(cjson REQUIRED IMPORTED_TARGET libcjson>=1.7.15)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1>=0.2.5)
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp>=2.5.4)
pkg_check_modules(event REQUIRED IMPORTED_TARGET libevent_core>=2.1.12)
# Headers alone: of a zygote's extension module.
pkg_check_modules(python REQUIRED python3>=3.10)
pkg_check_modules(mnl REQUIRED IMPORTED_TARGET libmnl>=1.0.4)
pkg_check_modules(microhttpd REQUIRED IMPORTED_TARGET libmicrohttpd>=0.9.75)
pkg_check_modules(gnutls REQUIRED IMPORTED_TARGET gnutls>=3.7)
if(SANDBOXRUN_TESTS)
  find_package(Threads REQUIRED)
  pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka>=1.1.5)
endif()
