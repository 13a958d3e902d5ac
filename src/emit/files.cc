#include "emit/files.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/capture_file.h"
#include "emit/flags.h"
#include "emit/launch.h"
#include "emit/log_reading.h"
#include "emit/other_words.h"
#include "emit/python_recipe.h"
#include "emit/shell_job.h"
#include "emit/toml_file.h"
#include "emit/tree_file.h"
#include "emit/who_runs.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kMaxtextFile = "maxtext.yml";
constexpr std::size_t kHead = 65'536;  // bytes that tell a log
constexpr std::string_view kCaptureEnding = ".capture.json";
constexpr std::size_t kCaptureHead = 256;  // bytes that tell a captured job

struct Ending {
  std::string_view text;
  FileKind kind = FileKind::kShell;
};
constexpr std::array<Ending, 12> kEndings{{{".sh", FileKind::kShell},
                                           {".bash", FileKind::kShell},
                                           {".sbatch", FileKind::kShell},
                                           {".slurm", FileKind::kShell},
                                           {".yaml", FileKind::kYaml},
                                           {".yml", FileKind::kYaml},
                                           {".json", FileKind::kJson},
                                           {".hjson", FileKind::kJson},
                                           {".toml", FileKind::kToml},
                                           {".py", FileKind::kPython},
                                           {".log", FileKind::kLog},
                                           {".out", FileKind::kLog}}};

Result<Settings> parse_tree(std::string_view text, std::string_view name, FileKind kind) {
  SEXTANT_TRY(Settings settings, kind == FileKind::kYaml
                                     ? parse_yaml(text, name, Dialect::kNanotron)
                                     : parse_json(text, name, Dialect::kDeepspeed));
  if (const auto other = other_in_tree(settings)) {
    if (*other == "GPT-NeoX") {
      return megatron_of_neox(settings);
    }
    if (*other == "llm-foundry") {
      settings.dialect = Dialect::kAccelerate;
      settings.program = kFoundry;
      return settings;
    }
    return not_read(*other, name);
  }
  if (is_trainer_config(settings)) {
    return flags_of_trainer_config(std::move(settings));
  }
  const auto dialect = dialect_of_tree(settings);
  if (!dialect) {
    return invalid("no framework's settings are in it", std::string(name),
                   "files of MaxText, Accelerate, nanotron, DeepSpeed, Megatron-Bridge "
                   "(run_config.yaml) or Megatron's functional tests");
  }
  settings.dialect = *dialect;
  if (*dialect == Dialect::kMegatron) {
    settings.environment = megatron_test_environment(settings);
    settings.given = parse_flags(megatron_test_words(settings));
  }
  return settings;
}

Result<Settings> parse_titan(std::string_view text, std::string_view name) {
  SEXTANT_TRY(Settings settings, parse_toml(text, name, Dialect::kTorchtitanToml));
  constexpr std::array<std::string_view, 5> kSections{"parallelism.", "training.", "job.",
                                                      "activation_checkpoint.", "experimental."};
  const bool titan = std::any_of(kSections.begin(), kSections.end(), [&](std::string_view section) {
    return std::any_of(settings.given.begin(), settings.given.end(),
                       [&](const Setting& one) { return one.key.starts_with(section); });
  });
  if (!titan) {
    return invalid("no framework's settings are in it", std::string(name),
                   "torchtitan's TOML: [parallelism], [training], [job], …");
  }
  return settings;
}

}  // namespace

std::vector<File> render(const Settings& settings, const std::vector<std::string>& comments) {
  const auto file = [&](std::string text) {
    return std::vector<File>{{std::string(config_file_name(settings.dialect)), std::move(text)}};
  };
  switch (settings.dialect) {
    case Dialect::kMegatron:
    case Dialect::kBridge:
      return {};
    case Dialect::kTorchtitan:
      return file(render_python_recipe(settings, comments));
    case Dialect::kTorchtitanToml:
      return file(render_toml(settings, comments));
    case Dialect::kDeepspeed:
      return file(render_json(settings));
    case Dialect::kMaxtext:  // what its command line says too
      return {{std::string(kMaxtextFile), render_yaml(settings, comments)}};
    case Dialect::kAccelerate:
    case Dialect::kNanotron:
      return file(render_yaml(settings, comments));
  }
  return {};
}

FileKind kind_of(std::string_view text, std::string_view name) {
  const std::string lower = to_lower(name);
  if (lower.ends_with(kCaptureEnding) ||
      (lower.ends_with(".json") &&
       text.substr(0, kCaptureHead).find(kCaptureSchema) != std::string_view::npos)) {
    return FileKind::kCapture;
  }
  for (const Ending& ending : kEndings) {
    if (lower.ends_with(ending.text)) {
      return ending.kind;
    }
  }
  if (looks_like_log(text.substr(0, kHead))) {
    return FileKind::kLog;
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' ? FileKind::kJson : FileKind::kShell;
}

Result<Settings> parse(std::string_view text, std::string_view name) {
  return parse(text, name, kind_of(text, name));
}

Result<Settings> parse(std::string_view text, std::string_view name, FileKind kind,
                       const ShellInvocation& invocation) {
  switch (kind) {
    case FileKind::kShell:
      return parse_shell(text, name, invocation);
    case FileKind::kYaml:
    case FileKind::kJson:
      return parse_tree(text, name, kind);
    case FileKind::kToml:
      return parse_titan(text, name);
    case FileKind::kPython:
      if (const auto other = other_in_python(text)) {
        if (*other == "NeMo") {
          return parse_nemo_recipe(text, name);
        }
        return not_read(*other, name);
      }
      return parse_python_recipe(text, name);
    case FileKind::kLog: {
      SEXTANT_TRY(LogReading log, parse_log(text, name));
      return std::move(log.settings);
    }
    case FileKind::kCapture: {
      SEXTANT_TRY(CaptureReading captured, parse_capture(text, name));
      return std::move(captured.settings);
    }
  }
  return invalid("not a file that is known", std::string(name));
}

Settings joined(Settings first, const Settings& second) {
  append(first.given, second.given);
  append(first.environment, second.environment);
  first.printed.insert(first.printed.end(), second.printed.begin(), second.printed.end());
  append(first.launch, second.launch);
  first.written.insert(first.written.end(), second.written.begin(), second.written.end());
  first.followed.insert(first.followed.end(), second.followed.begin(), second.followed.end());
  first.unresolved.insert(first.unresolved.end(), second.unresolved.begin(),
                          second.unresolved.end());
  return first;
}

}  // namespace sextant::emit
