#include "front/mcp/serve.h"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "base/read_fence.h"
#include "front/mcp/sextant_offer.h"
#include "front/mcp/stdio.h"

namespace sextant::front::mcp {
namespace {

namespace fs = std::filesystem;

Result<fs::path> root_folder(const std::string& named) {
  std::error_code error;
  const fs::path root = fs::canonical(named.empty() ? "." : named, error);
  if (error || !fs::is_directory(root, error)) {
    return not_found("is not a folder", named, "the folder whose files may be read");
  }
  return root;
}

// The context again, with what settings name by a path that begins in this working folder.
Result<app::Context> context_from_anywhere(const app::Context& context) {
  std::map<std::string, app::Setting> whole;
  for (const char* const key : {"data", "kb"}) {
    const app::Setting& setting = context.settings.at(key);
    if (!setting.value.empty()) {
      whole[key] = {fs::absolute(setting.value).string(), setting.origin};
    }
  }
  return app::load_context(whole, app::Surroundings::of_process());
}

void greet_person() {
  if (isatty(STDIN_FILENO) == 1) {
    std::fputs(
        "sextant: speaks the Model Context Protocol on standard input and output; a client starts "
        "it\n",
        stderr);
  }
}

}  // namespace

Result<void> serve(const ServeOptions& options, const app::Context& context) {
  SEXTANT_TRY(const fs::path root, root_folder(options.root));
  SEXTANT_TRY(app::Context moved, context_from_anywhere(context));
  std::vector<fs::path> readable{root};
  if (const std::string& data = moved.settings.at("data").value; !data.empty()) {
    readable.emplace_back(data);
  }
  std::error_code error;
  fs::current_path(root, error);
  if (error) {
    return external("can't be entered: " + error.message(), root.string());
  }
  std::signal(SIGPIPE, SIG_IGN);  // a client that hangs up ends its stream, not us
  const ReadFence fence(readable);
  Desk desk{.context = moved, .may_add = options.may_add};
  const Server server(sextant_offer(desk));
  greet_person();
  serve_streams(server, {.in = STDIN_FILENO, .out = STDOUT_FILENO});
  return {};
}

}  // namespace sextant::front::mcp
