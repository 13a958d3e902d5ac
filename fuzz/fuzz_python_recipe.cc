// Python recipes: any bytes end in settings or an Error; what torchtitan's reader makes of them
// renders to a recipe that is read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "emit/python_recipe.h"
#include "emit/torchtitan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sextant::emit;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto settings = parse_python_recipe(text, "fuzz.py");
  if (!settings) {
    return 0;
  }
  (void)read_torchtitan(*settings, sextant::describe::DataStore());
  if (!parse_python_recipe(render_python_recipe(*settings, {}), "again.py")) {
    std::abort();
  }
  return 0;
}
