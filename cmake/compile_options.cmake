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
                           -Wsuggest-override -Wzero-as-null-pointer-constant
                           # g++ 12 takes the value of an empty std::optional for one that is read.
                           -Wno-maybe-uninitialized>
  # libstdc++ 12 calls its own deprecated get_temporary_buffer in stable_sort; clang tells us.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
# Warnings are errors with the compilers this is written with; others may know warnings that nobody has met yet.
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.") OR
   (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^19\\."))
  target_compile_options(sextant_options INTERFACE -Werror)
endif()
if(SEXTANT_STDLIB_CHECKS)
  target_compile_definitions(sextant_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(SEXTANT_SANITIZE)
  target_compile_options(sextant_options INTERFACE
    -fsanitize=${SEXTANT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    # Left out of UBSan: what ASan sees too (null, object-size), what x86 does not mind (alignment) and virtual calls,
    # of which there are two. They cost a third of the time to compile and to run.
    -fno-sanitize=null,alignment,vptr,object-size)
  target_link_options(sextant_options INTERFACE -fsanitize=${SEXTANT_SANITIZE})
endif()
if(SEXTANT_FUZZ)
  target_compile_options(sextant_options INTERFACE -fsanitize=fuzzer-no-link)
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
    sextant_test(${name} SOURCES ${ARG_TESTS} LIBS sextant_${name} rapidcheck)
  endif()
endfunction()

# A test program sextant_<name>_test, its tests labelled <name>.
function(sextant_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(sextant_${name}_test ${ARG_SOURCES})
  # Optimising tests takes longer than running them does.
  target_compile_options(sextant_${name}_test PRIVATE -O0)
  target_link_libraries(sextant_${name}_test PRIVATE ${ARG_LIBS} sextant_test_places GTest::gtest_main)
  # A value without a printer is shown as its bytes, addresses among them: no name for a test.
  gtest_discover_tests(sextant_${name}_test NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${name})
endfunction()
