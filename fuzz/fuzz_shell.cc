// Launch scripts as users have them. Places stay inside the text, and a script that starts a
// training reads the same twice. The files that it names are all its own second half.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "emit/patch.h"
#include "emit/shell_job.h"
#include "emit/shell_script.h"

namespace {

using namespace sextant::emit;  // NOLINT(google-build-using-namespace)

ShellInvocation invocation_of(std::string_view text) {
  ShellInvocation invocation;
  invocation.arguments = {"dsw", "7B", "--tp", "4"};
  invocation.arguments_given = text.size() % 2 == 0;
  invocation.variables = {{"TP", "4"}};
  const std::string half(text.substr(text.size() / 2));
  invocation.file = [half](std::string_view path) -> std::optional<ShellInvocation::Found> {
    return ShellInvocation::Found{std::string(path), half};
  };
  return invocation;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto script = read_shell_script(text, "fuzz", invocation_of(text))) {
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
