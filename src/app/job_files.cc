#include "app/job_files.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "app/job_devices.h"
#include "app/job_folder.h"
#include "base/file.h"
#include "base/integers.h"
#include "base/sha256.h"
#include "base/text.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/job_defaults.h"
#include "describe/layout/layout_text.h"
#include "describe/model/load_model.h"
#include "emit/capture_file.h"
#include "emit/log_reading.h"
#include "emit/setting_rules.h"

namespace sextant::app {
namespace {

constexpr Bytes kMostLog = 256_MiB;
constexpr Bytes kMostText = 4_MiB;
constexpr std::size_t kMostFiles = 64;

Result<Given> load(const std::string& path, const FileRequest& request) {
  for (const emit::File& one : request.texts) {
    if (one.name == path) {
      return Given{one, emit::kind_of(one.text, one.name)};
    }
  }
  SEXTANT_TRY(std::string text, read_file(path, kMostLog));
  const emit::FileKind kind = emit::kind_of(text, path);
  if (kind != emit::FileKind::kLog) {
    SEXTANT_CHECK_OK(checked_text(text, kMostText, path));
  }
  return Given{{path, std::move(text)}, kind};
}

// MaxText's defaults, which its reader starts from.
bool is_frameworks_own(const std::string& named) {
  return std::filesystem::path(named).filename() == "base.yml";
}

// As the user says scripts are started.
Result<emit::ShellInvocation> invocation_of(const std::string& script, const FileRequest& request) {
  emit::ShellInvocation invocation;
  invocation.file = [script](std::string_view path) { return file_beside(script, path); };
  invocation.arguments_given = request.arguments.has_value();
  for (const std::string_view word : split(request.arguments.value_or(""), ' ')) {
    if (!word.empty()) {
      invocation.arguments.emplace_back(word);
    }
  }
  for (const std::string& text : request.variables) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return invalid(fmt::format("'{}' sets nothing", printable(text)), "‹set›",
                     "NAME=VALUE, such as TP=4");
    }
    invocation.variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return invocation;
}

// One file's settings, what it measured among them.
Result<emit::Settings> settings_of(const Given& given, const FileRequest& request, FileJob& out) {
  const auto& [file, kind] = given;
  if (kind == emit::FileKind::kCapture) {
    SEXTANT_TRY(emit::CaptureReading captured, emit::parse_capture(file.text, file.name));
    out.captured.insert(out.captured.end(), std::make_move_iterator(captured.files.begin()),
                        std::make_move_iterator(captured.files.end()));
    return std::move(captured.settings);
  }
  if (kind != emit::FileKind::kLog) {
    SEXTANT_TRY(const emit::ShellInvocation invocation, invocation_of(file.name, request));
    return emit::parse(file.text, file.name, kind, invocation);
  }
  SEXTANT_TRY(emit::LogReading log, emit::parse_log(file.text, file.name));
  out.measured = std::move(log.measured);
  emit::Settings settings = std::move(log.settings);
  settings.unresolved.insert(settings.unresolved.end(), log.unresolved.begin(),
                             log.unresolved.end());
  return settings;
}

struct Part {
  emit::Settings settings;
  bool script = false;
};

// Scripts last: their flags stand over files. Of two frameworks the script's counts, else the first
// file's.
void join_parts(std::vector<Part> parts, FileJob& out) {
  std::stable_partition(parts.begin(), parts.end(), [](const Part& part) { return !part.script; });
  const auto says = [](const Part& part) {
    return !part.settings.given.empty() || (part.script && !part.settings.framework_known);
  };
  auto speaks = std::find_if(parts.begin(), parts.end(),
                             [&says](const Part& part) { return part.script && says(part); });
  if (speaks == parts.end()) {
    speaks = std::find_if(parts.begin(), parts.end(), says);
  }
  const emit::Dialect main = (speaks == parts.end() ? parts.begin() : speaks)->settings.dialect;
  out.settings.dialect = main;
  out.settings.framework_known = speaks == parts.end() || speaks->settings.framework_known;
  out.settings.program = speaks == parts.end() ? std::string() : speaks->settings.program;
  for (Part& part : parts) {
    const emit::Dialect own = part.settings.dialect;
    if (emit::framework_of(own) != emit::framework_of(main) && says(part)) {
      out.settings.unresolved.push_back(
          {fmt::format("settings of {}",
                       describe::word_of<emit::Dialect>(emit::kDialectWords, own)),
           "files of two frameworks are not read together",
           part.settings.given.empty() ? emit::Place{} : part.settings.given.front().place});
      part.settings.given.clear();
    } else if (!part.script && says(part) && emit::framework_of(own) == emit::framework_of(main)) {
      out.settings.dialect = own;  // torchtitan's TOML under a script of torchtitan's
    }
    out.settings = emit::joined(std::move(out.settings), part.settings);
  }
}

// Is a file of that name among those given?
bool is_given(const FileRequest& request, const std::filesystem::path& named) {
  return std::any_of(request.files.begin(), request.files.end(), [&named](const std::string& file) {
    return std::filesystem::path(file).filename() == named.filename();
  });
}

// A configuration that the script writes itself.
Result<void> add_written(const std::string& script, const emit::WrittenFile& written,
                         const FileRequest& request, std::vector<Part>& parts, FileJob& out) {
  const std::string name = fmt::format("{} (written by {})", printable(written.name), script);
  const Given given{{name, written.text}, emit::kind_of(written.text, written.name)};
  auto under =
      written.known && given.kind != emit::FileKind::kLog
          ? settings_of(given, request, out)
          : Result<emit::Settings>(invalid("it is written by a command that is not followed"));
  if (under) {
    parts.push_back({*std::move(under), false});
  } else {
    out.settings.unresolved.push_back({printable(written.name), under.error().what, {}, {}, true});
  }
  return {};
}

// The configuration files that a script names: read where they lie beside it, else said to be
// missing.
Result<void> add_named(const std::string& script, const emit::Settings& settings,
                       const FileRequest& request, std::vector<Part>& parts, FileJob& out) {
  for (const emit::Setting& one : settings.launch) {
    if (one.key != "config_file" || one.values.empty() || is_frameworks_own(one.values.front()) ||
        is_given(request, one.values.front())) {
      continue;
    }
    if (const emit::File* held = emit::captured_file(out.captured, one.values.front())) {
      const emit::FileKind kind = emit::kind_of(held->text, held->name);
      SEXTANT_TRY(emit::Settings under, emit::parse(held->text, held->name, kind));
      parts.push_back({std::move(under), false});
      continue;
    }
    if (const emit::WrittenFile* written = written_file(settings, one.values.front())) {
      SEXTANT_CHECK_OK(add_written(script, *written, request, parts, out));
      continue;
    }
    const auto found = path_beside(script, one.values.front());
    if (!found) {
      out.open.push_back(fmt::format("{} is not beside {}: give it as another FILE",
                                     printable(one.values.front()), emit::to_text(one.place)));
      out.settings.unresolved.push_back(
          {printable(one.values.front()),
           "it is not beside the script",
           one.place,
           {},
           // Megatron's own layout is in its flags.
           settings.dialect != emit::Dialect::kMegatron || !settings.program.empty()});
      continue;
    }
    SEXTANT_TRY(Given given, load(*found, request));
    SEXTANT_TRY(emit::Settings under, settings_of(given, request, out));
    parts.push_back({std::move(under), false});
    out.files.push_back(std::move(given));
  }
  return {};
}

// Settings of every file. A configuration file stands under the script that names it.
Result<void> read_settings(const FileRequest& request, FileJob& out) {
  if (request.files.empty() || request.files.size() > kMostFiles) {
    return invalid(fmt::format("{} files", request.files.size()), "FILE",
                   fmt::format("from 1 to {}", kMostFiles));
  }
  std::vector<Part> parts;
  for (const std::string& path : request.files) {
    SEXTANT_TRY(Given given, load(path, request));
    SEXTANT_TRY(emit::Settings settings, settings_of(given, request, out));
    SEXTANT_CHECK_OK(add_named(path, settings, request, parts, out));
    parts.push_back({std::move(settings), given.kind == emit::FileKind::kShell ||
                                              given.kind == emit::FileKind::kCapture});
    out.files.push_back(std::move(given));
  }
  join_parts(std::move(parts), out);
  return {};
}

std::string not_known_text(const emit::Reading& reading) {
  if (!reading.framework_known) {
    return "who runs it is not known from these files: nothing is judged";
  }
  const std::vector<std::string> fields(reading.not_known.begin(), reading.not_known.end());
  return fmt::format(
      "{} not known from these files (see unresolved): ‹set› or ‹args› of a script, ‹layout›, "
      "‹model› say it",
      join(fields, ", ") + (fields.size() == 1 ? " is" : " are"));
}

// What the caller says of the layout.
Result<void> add_layout(const std::string& text, emit::Reading& reading) {
  if (text.empty()) {
    return {};
  }
  SEXTANT_TRY(const std::vector<std::string> keys, describe::set_keys(text, reading.layout));
  for (const std::string& key : keys) {
    reading.not_known.erase(key);
    std::erase_if(reading.facts, [&](const emit::Fact& fact) { return fact.field == key; });
    reading.facts.push_back({key, {}, "‹layout› " + text, {}});
  }
  for (const auto& [key, value] : describe::layout_values(reading.layout)) {
    for (emit::Fact& fact : reading.facts) {
      fact.value = fact.field == key && fact.value.empty() ? value : fact.value;
    }
  }
  if (reading.layout.dp == 0 && reading.devices) {
    const describe::Layout& at = reading.layout;
    const std::int64_t ranks = saturating_product({at.tp, at.pp, at.cp});
    if (*reading.devices % ranks == 0) {
      reading.layout.dp = *reading.devices / ranks;
      reading.not_known.erase("dp");
    }
  }
  return {};
}

// What the caller says of the vocabulary.
Result<void> read_vocabulary(const FileRequest& request, describe::Job& job) {
  if (request.vocabulary.empty()) {
    return {};
  }
  constexpr std::int64_t kMostEntries = 100'000'000;
  const auto entries = to_integer(request.vocabulary);
  if (!entries || *entries < 1 || *entries > kMostEntries) {
    return invalid(fmt::format("'{}' is no number of entries", printable(request.vocabulary)),
                   "‹vocab›", fmt::format("a whole number from 1 to {}", kMostEntries));
  }
  job.model.vocab = *entries;
  std::erase_if(job.model.assumed,
                [](const describe::Assumption& one) { return one.key == "vocab"; });
  return {};
}

std::string model_wanted(const FileRequest& request) {
  return fmt::format("‹{} MODEL›", request.model_parameter);
}

Result<void> read_file_batch(const FileRequest& request, FileJob& out, describe::Job& job) {
  if (!request.sequences.empty()) {
    SEXTANT_TRY(job.sequences, describe::parse_sequences(request.sequences));
  } else if (out.reading.sequence) {
    job.sequences.length = *out.reading.sequence;
  } else {
    out.open.emplace_back("the sequence length is not stated: ‹seq› LENGTH");
    job.sequences.length = describe::stand_in_sequence(job.layout);
  }
  if (!request.global_batch.empty()) {
    const auto batch = to_integer(request.global_batch);
    if (!batch || *batch < 1) {
      return invalid(fmt::format("'{}' is not a global batch", printable(request.global_batch)),
                     "‹gbs›", "a whole number from 1");
    }
    job.global_batch = *batch;
  } else if (out.reading.global_batch) {
    job.global_batch = *out.reading.global_batch;
  } else {
    out.open.emplace_back("the global batch is not stated: ‹gbs› SEQUENCES");
    job.global_batch = describe::usual_batch(job);
  }
  return {};
}

}  // namespace

Result<FileJob> read_files(const FileRequest& request, const Context& context) {
  FileJob out;
  SEXTANT_CHECK_OK(read_settings(request, out));
  SEXTANT_CHECK_OK(start_where_said(request.cluster, context, out.settings));
  out.reading = emit::read(out.settings, context.data);
  SEXTANT_CHECK_OK(add_layout(request.layout, out.reading));
  if (!request.global_batch.empty()) {
    out.reading.not_known.erase("gbs");
  }
  if (!request.sequences.empty()) {
    out.reading.not_known.erase("seq");
  }
  for (const Given& given : out.files) {
    out.inputs.emplace_back(given.file.name, sha256_hex(given.file.text));
  }
  if (!out.reading.not_known.empty()) {
    out.open.push_back(not_known_text(out.reading));
    return out;  // rules are not asked of stand-ins for what the files do say
  }
  describe::Job job;
  job.framework = out.reading.framework.value_or(emit::framework_of(out.settings.dialect));
  job.layout = out.reading.layout;
  job.stated = emit::stated_keys(out.reading);
  if (!request.model.empty()) {
    SEXTANT_TRY(job.model, describe::load_model(request.model, context.data));
  } else if (out.reading.model) {
    job.model = *out.reading.model;
  } else {
    out.open.push_back("the model is not stated: " + model_wanted(request));
    return out;
  }
  SEXTANT_CHECK_OK(read_vocabulary(request, job));
  job.assumed = job.model.assumed;
  if (job.model.vocab == 0) {
    out.open.push_back("the vocabulary is not stated: ‹vocab ENTRIES› or " + model_wanted(request));
    job.model.vocab = std::max<std::int64_t>(job.layout.tp, 1);  // as little as can be split
  }
  SEXTANT_CHECK_OK(read_cluster(request.cluster, context, out, job));
  SEXTANT_CHECK_OK(read_file_batch(request, out, job));
  SEXTANT_CHECK_OK(read_workload(request.workload, job));
  if (out.open.empty() && out.measured) {
    out.measured->step = emit::step_of(*out.measured, job);
  }
  out.violations = emit::check_all(out.settings, job);
  out.job = std::move(job);
  return out;
}

}  // namespace sextant::app
