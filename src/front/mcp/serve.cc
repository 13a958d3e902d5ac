#include "front/mcp/serve.h"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/read_fence.h"
#include "base/text.h"
#include "front/mcp/http.h"
#include "front/mcp/sextant_offer.h"
#include "front/mcp/stdio.h"

namespace sextant::front::mcp {
namespace {

namespace fs = std::filesystem;

Result<fs::path> root_folder(const std::string& named) {
  std::error_code error;
  fs::path root = fs::canonical(named.empty() ? "." : named, error);
  if (error || !fs::is_directory(root, error)) {
    return not_found("is not a folder", named, "the folder whose files may be read");
  }
  return root;
}

// The context again, with what settings name by a path that begins in this working folder, and
// without what only a request to somebody else needs.
Result<app::Context> context_from_anywhere(const app::Context& context) {
  std::map<std::string, app::Setting> whole;
  for (const char* const key : {"data", "kb"}) {
    const app::Setting& setting = context.settings.at(key);
    if (!setting.value.empty()) {
      whole[key] = {fs::absolute(setting.value).string(), setting.origin};
    }
  }
  SEXTANT_TRY(app::Context moved, app::load_context(whole, app::Surroundings::of_process()));
  moved.network = {};  // nobody is asked from here: no key and no proxy is needed
  return moved;
}

Result<std::optional<std::uint16_t>> port_of(const std::string& text) {
  if (text.empty()) {
    return std::optional<std::uint16_t>();
  }
  const auto number = to_integer(text);
  if (!number || *number < 0 || *number > std::numeric_limits<std::uint16_t>::max()) {
    return invalid(fmt::format("'{}' is no port", printable(text)), "sextant mcp --http",
                   "0 (any free one) to 65535");
  }
  return std::optional(static_cast<std::uint16_t>(*number));
}

void say_where(std::uint16_t port) {
  std::fputs(fmt::format("sextant: listening on http://127.0.0.1:{}/mcp\n", port).c_str(), stderr);
}

// What ends the program, from the terminal or otherwise.
sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int one : {SIGINT, SIGTERM, SIGHUP}) {
    sigaddset(&signals, one);
  }
  return signals;
}

// Before the first thread: all inherit it, so that only wait_for_end() is told.
void hold_signals() {
  const sigset_t signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void wait_for_end() {
  const sigset_t signals = ending_signals();
  int which = 0;
  sigwait(&signals, &which);
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
  SEXTANT_TRY(const std::optional<std::uint16_t> port, port_of(options.port));
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
  if (port) {
    hold_signals();
    return serve_http(server, *port, say_where, wait_for_end);
  }
  greet_person();
  serve_streams(server, {.in = STDIN_FILENO, .out = STDOUT_FILENO});
  return {};
}

}  // namespace sextant::front::mcp
