# -O2, not -O3: g++ 12 at -O3 gives false -Wrestrict on string concatenation. Line tables are debug information
# enough for a stack trace, and cost a third less time than all of it.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

# Flags for our own code only; third-party headers come in as SYSTEM.
add_library(sextant_options INTERFACE)
target_compile_features(sextant_options INTERFACE cxx_std_20)
target_compile_options(sextant_options INTERFACE
  -Wall -Wextra -Wpedantic
  -Wconversion -Wsign-conversion -Wdouble-promotion -Wfloat-conversion
  -Wshadow -Wold-style-cast -Wcast-qual -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough -Wswitch-enum -Wundef -Wformat=2
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wuseless-cast
                           -Wsuggest-override -Wzero-as-null-pointer-constant>
  # libstdc++ 12 calls its own deprecated get_temporary_buffer in stable_sort; clang tells us.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(SEXTANT_WARNINGS_AS_ERRORS)
  target_compile_options(sextant_options INTERFACE -Werror)
endif()
if(SEXTANT_STDLIB_CHECKS)
  target_compile_definitions(sextant_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(SEXTANT_SANITIZE)
  target_compile_options(sextant_options INTERFACE
    -fsanitize=${SEXTANT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(sextant_options INTERFACE -fsanitize=${SEXTANT_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 with ASan reports uninitialised members inside libstdc++ that are not.
    target_compile_options(sextant_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(SEXTANT_FUZZ)
  target_compile_options(sextant_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(SEXTANT_STATIC)
  target_link_options(sextant_options INTERFACE -static)
endif()
if(SEXTANT_CLANG_TIDY)
  find_program(CLANG_TIDY_EXE NAMES clang-tidy-19 REQUIRED)
  set(CMAKE_CXX_CLANG_TIDY ${CLANG_TIDY_EXE} --quiet
      --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-zero-as-null-pointer-constant)
endif()
find_program(CCACHE_EXE ccache)
if(CCACHE_EXE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_EXE})
endif()

# One module = one folder under src/ = one static library. DEPENDS is the whole list of
# folders it may include; scripts/check_layers.py holds it to that. LIBS are the third-party
# libraries the folder owns: private, so no other folder sees their headers through it.
function(sextant_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;TESTS;DEPENDS;LIBS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND src/${name}/)
  list(TRANSFORM ARG_TESTS PREPEND src/${name}/)
  list(TRANSFORM ARG_DEPENDS PREPEND sextant_)
  add_library(sextant_${name} STATIC ${ARG_SOURCES})
  target_include_directories(sextant_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(sextant_${name} PUBLIC ${ARG_DEPENDS} sextant_options PRIVATE ${ARG_LIBS})
  if(BUILD_TESTING AND ARG_TESTS)
    add_executable(sextant_${name}_test ${ARG_TESTS})
    target_link_libraries(sextant_${name}_test PRIVATE
      sextant_${name} rapidcheck GTest::gtest_main)
    # Only where it is read: what names no folder of this checkout is compiled once for all of them.
    foreach(test ${ARG_TESTS})
      file(STRINGS ${test} reads REGEX SEXTANT_SOURCE_DIR LIMIT_COUNT 1)
      if(reads)
        set_source_files_properties(${test} PROPERTIES COMPILE_DEFINITIONS
          SEXTANT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
      endif()
    endforeach()
    gtest_discover_tests(sextant_${name}_test DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
