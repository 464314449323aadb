# SPDX-License-Identifier: Apache-2.0
#
# Each flag is probed, so that one list serves every gcc and clang.
include(CheckCCompilerFlag)

set(wanted
  -Wall -Wextra
  -Wshadow -Wformat=2 -Wformat-signedness -Wcast-qual -Wpointer-arith
  -Wstrict-prototypes -Wmissing-prototypes -Wmissing-declarations -Wold-style-definition
  -Wwrite-strings -Wundef -Wvla -Wimplicit-fallthrough -Wswitch-enum
  -Wlogical-op -Wdouble-promotion -Wredundant-decls -Wreserved-identifier
  # Off: designated initialisers leave the rest zero on purpose.
  -Wno-missing-field-initializers)

foreach(flag IN LISTS wanted)
  string(MAKE_C_IDENTIFIER "HAVE${flag}" have)
  check_c_compiler_flag(${flag} ${have})
  if(${have})
    add_compile_options(${flag})
  endif()
endforeach()

if(SANDBOXRUN_WERROR)
  add_compile_options(-Werror)
endif()
