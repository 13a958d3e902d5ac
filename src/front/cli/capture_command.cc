// capture: asks before it runs anything, then writes what was captured.
#include "app/capture_command.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "front/cli/artifacts.h"
#include "front/cli/command.h"
#include "front/cli/exit_codes.h"
#include "front/cli/questions.h"

namespace sextant::front {
namespace {

app::CaptureWords capture_words(const Arguments& arguments) {
  app::CaptureWords words;
  words.command = arguments.all("COMMAND");
  words.file = arguments.has("--out") ? arguments.one("--out") : "job.capture.json";
  words.cluster = arguments.one("--on");
  words.seconds = arguments.one("--seconds");
  std::error_code error;
  words.folder = std::filesystem::current_path(error).string();
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    words.environment.emplace_back(*one);
  }
  return words;
}

bool is_yes(const std::optional<std::string>& answer) {
  return answer && is_one_of(to_lower(*answer), {"y", "yes"});
}

Result<Output> run_capture(const Arguments& arguments, const Session& session) {
  const app::CaptureWords words = capture_words(arguments);
  SEXTANT_TRY(const std::vector<std::string> notice, app::capture_notice(words, session.context));
  if (!arguments.has("--yes")) {
    const std::string question = join(notice, "\n") + "\nrun it? [y/N]";
    if (isatty(STDIN_FILENO) != 1) {
      std::fputs((question + "\n").c_str(), stderr);
      return invalid("nobody is there to be asked", "sextant capture", "--yes runs it");
    }
    if (!is_yes(next_question(question))) {
      return Output{{}, {"nothing was run"}, kExitNo};
    }
  }
  SEXTANT_TRY(const auto answered, app::capture(words, session.context));
  SEXTANT_TRY(const std::vector<std::string> written, write_artifacts(answered.artifacts));
  Output output{.text = to_text(answered.answer, session.style),
                .notes = written,
                .exit_code = exit_code_of(answered.outcome)};
  if (answered.outcome == app::Outcome::kFine) {
    output.notes.push_back(fmt::format("wrote {0}: sextant check {0}", words.file));
  }
  return output;
}

}  // namespace

Command capture_command() {
  return {
      .name = "capture",
      .summary = "Run a job's own script with stand-ins: what it would start, nothing trained",
      .examples = {"sextant capture --out job.capture.json -- bash train.sh 7B 8",
                   "sextant capture --on 64xh100-sxm -- sbatch train.slurm"},
      .positionals = {{"COMMAND", "behind --: the script and its arguments, as you start it", true,
                       true, "files"}},
      .options = {{"--yes", "", "do not ask before it runs", ""},
                  {"--out", "FILE", "the record (default: job.capture.json)", "files"},
                  {"--on", "CLUSTER", "what nvidia-smi, scontrol and Slurm would say", "devices"},
                  {"--seconds", "COUNT", "end the script after so long (default: 60)", ""}},
      .run = run_capture,
      .takes_command = true};
}

}  // namespace sextant::front
