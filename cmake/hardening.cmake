# SPDX-License-Identifier: Apache-2.0
#
# Release builds carry the hardening flags; sanitizer builds drop those that hide what a
# sanitizer looks for (FORTIFY_SOURCE, automatic initialisation).
include(CheckCCompilerFlag)
include(CheckPIESupported)
check_pie_supported()

function(add_probed_options)
  foreach(flag IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "HAVE${flag}" have)
    check_c_compiler_flag(${flag} ${have})
    if(${have})
      add_compile_options(${flag})
    endif()
  endforeach()
endfunction()

add_probed_options(-fno-common -fno-strict-aliasing -fvisibility=hidden -fstack-protector-strong)

if(SANDBOXRUN_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(SANDBOXRUN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
elseif(SANDBOXRUN_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
else()
  add_compile_options(-U_FORTIFY_SOURCE)
  if(CMAKE_BUILD_TYPE MATCHES "Rel")
    add_compile_options(-D_FORTIFY_SOURCE=3)
  endif()
  add_probed_options(-fstack-clash-protection -fcf-protection -ftrivial-auto-var-init=zero
    -fstrict-flex-arrays=3 -fzero-call-used-regs=used-gpr)
  add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack,-z,nodlopen -Wl,--as-needed)
endif()
