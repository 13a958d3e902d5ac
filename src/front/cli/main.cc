// The command line: parse, one app call, print. Answers go to standard output, everything else to
// standard error.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/capture_command.h"
#include "app/context.h"
#include "base/text.h"
#include "explain/fitted.h"
#include "front/cli/exit_codes.h"
#include "front/cli/parse.h"

namespace sextant::front {
namespace {

int exit_code(ErrorKind kind) {
  return kind == ErrorKind::kExternal ? kExitExternal : kExitUsage;
}

// Of what a stream writes to: COLUMNS where it is exported, else the terminal's; 0 where there is
// none.
std::size_t width_of(int stream) {
  constexpr std::int64_t kWidest = 10'000;
  if (const auto columns = app::Surroundings::of_process().variable("COLUMNS")) {
    const auto number = to_integer(*columns);
    return number && *number > 0 && *number <= kWidest ? static_cast<std::size_t>(*number) : 0;
  }
  winsize size{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): as the kernel has it
  return isatty(stream) == 1 && ioctl(stream, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int fail(const Error& error) {
  const std::string text =
      explain::fitted("sextant: error: " + to_text(error) + "\n", width_of(STDERR_FILENO));
  std::fputs(text.c_str(), stderr);
  return exit_code(error.kind);
}

bool is_set(const app::Surroundings& surroundings, const char* name) {
  const auto value = surroundings.variable(name);
  return value && !value->empty() && *value != "0";
}

// --color and settings first; then NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE, CLICOLOR=0, the
// terminal.
bool wants_color(const std::string& when, const app::Surroundings& surroundings) {
  if (when != "auto") {
    return when == "always";
  }
  const auto no_color = surroundings.variable("NO_COLOR");
  if (no_color && !no_color->empty()) {
    return false;
  }
  if (is_set(surroundings, "FORCE_COLOR") || is_set(surroundings, "CLICOLOR_FORCE")) {
    return true;
  }
  if (surroundings.variable("CLICOLOR") == "0" || surroundings.variable("TERM") == "dumb") {
    return false;
  }
  return isatty(STDOUT_FILENO) == 1;
}

Result<Session> make_session(const Invocation& invocation, const app::Surroundings& surroundings) {
  Session session;
  SEXTANT_TRY(session.context, app::load_context(invocation.flags, surroundings));
  const app::Settings& settings = session.context.settings;
  SEXTANT_TRY(session.style.format, explain::parse_format(settings.at("output").value));
  if (explain::is_for_findings(session.style.format) && !invocation.command->has_findings) {
    return invalid(fmt::format("'{}' is a form for findings", settings.at("output").value),
                   fmt::format("sextant {} --output", invocation.command->name),
                   "table, json, md or csv");
  }
  session.style.color = wants_color(settings.at("color").value, surroundings);
  session.style.width = width_of(STDOUT_FILENO);
  return session;
}

int print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    std::fputs("sextant: error: writing to standard output failed\n", stderr);
    return kExitExternal;
  }
  return kExitFine;
}

int run_program(const std::vector<std::string>& arguments) {
  const auto parsed = parse_command_line(arguments);
  if (!parsed) {
    return fail(parsed.error());
  }
  if (const auto* information = std::get_if<Information>(&*parsed)) {
    return print(information->text);
  }
  const auto& invocation = std::get<Invocation>(*parsed);
  const auto session = make_session(invocation, app::Surroundings::of_process());
  if (!session) {
    return fail(session.error());
  }
  const auto output = invocation.command->run(invocation.arguments, *session);
  if (!output) {
    return fail(output.error());
  }
  for (const std::string& note : output->notes) {
    std::fputs(("sextant: " + note + "\n").c_str(), stderr);
  }
  const int printed = print(output->text);
  return printed == kExitFine ? output->exit_code : printed;
}

}  // namespace
}  // namespace sextant::front

int main(int argc, char** argv) {
  std::signal(SIGINT, [](int) { _exit(sextant::front::kExitInterrupted); });
  try {
    // Called by another program's name inside a capture (docs/capture.md).
    if (argc > 0 && sextant::app::is_stand_in_call(argv[0])) {
      _exit(sextant::app::stand_in_call({argv, argv + argc}));
    }
    return sextant::front::run_program({argv + 1, argv + argc});
  } catch (const std::exception& error) {  // out of memory, or a bug: never a stack trace
    std::fputs("sextant: error: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
    return sextant::front::kExitExternal;
  }
}
