# SPDX-License-Identifier: Apache-2.0

# sandboxrun_unit_test(NAME LIBS lib... [SOURCES file...] [LINK_OPTIONS opt...])
# NAME.c and SOURCES with cmocka and LIBS, run by ctest with the label "unit".
function(sandboxrun_unit_test name)
  cmake_parse_arguments(arg "" "" "LIBS;SOURCES;LINK_OPTIONS" ${ARGN})
  add_executable(${name} ${name}.c ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} PkgConfig::cmocka)
  target_link_options(${name} PRIVATE ${arg_LINK_OPTIONS})
  target_compile_definitions(${name} PRIVATE TEST_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/unit")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 120)
endfunction()

# sandboxrun_fuzz_target(NAME LIBS lib... [SOURCES file...])
# With SANDBOXRUN_FUZZ a libFuzzer program; else a program that replays the files and folders
# named on its command line, run by ctest over the stored corpus with the label "fuzz".
function(sandboxrun_fuzz_target name)
  cmake_parse_arguments(arg "" "" "LIBS;SOURCES" ${ARGN})
  set(corpus "${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name}")
  add_executable(${name} ${name}.c ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/fuzz")
  if(SANDBOXRUN_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME ${name} COMMAND ${name} -runs=0 "${corpus}")
  else()
    target_sources(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c")
    add_test(NAME ${name} COMMAND ${name} "${corpus}")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 300)
endfunction()
