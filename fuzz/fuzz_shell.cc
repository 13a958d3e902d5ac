// Launch scripts as users have them. Places stay inside the text, and a script that starts a
// training reads the same twice.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "emit/patch.h"
#include "emit/shell_job.h"
#include "emit/shell_script.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sextant::emit;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto script = read_shell_script(text, "fuzz")) {
    for (const ScriptCommand& command : script->commands) {
      for (const ScriptWord& word : command.words) {
        const Place& place = word.at.place;
        if (place.length > 0 && place.offset + place.length > text.size()) {
          std::abort();
        }
      }
    }
  }
  if (const auto settings = parse_shell(text, "fuzz")) {
    Settings wanted = *settings;
    wanted.given.push_back({"tensor_model_parallel_size", {"4"}, {}});
    (void)patch_script({"fuzz", std::string(text), false}, wanted);
  }
  return 0;
}
