// Which sources this program was built from. Written at build time by cmake/build_source.cmake.
#pragma once

#include <string_view>

namespace sextant::front {

struct BuildSource {
  std::string_view commit;  // "" where the sources are neither a checkout nor an archive of one
  std::string_view date;    // of the commit, "2026-11-16"
};

BuildSource build_source();

}  // namespace sextant::front
