#include "emit/capture_file.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/json_value.h"
#include "emit/shell_job.h"
#include "emit/shell_script.h"

namespace sextant::emit {
namespace {

using describe::JsonValue;

// Launchers whose options say on how many devices a job runs; those of a container say nothing.
constexpr std::array<std::string_view, 5> kCountingLaunchers{"srun", "mpirun", "mpiexec", "sbatch",
                                                             "salloc"};
constexpr std::size_t kMostOuters = 8;

Result<std::string> text_member(const JsonValue& value, std::string_view key) {
  const auto member = value.member(key);
  return member ? member->text() : Result<std::string>(std::string());
}

Result<std::vector<std::string>> texts_member(const JsonValue& value, std::string_view key) {
  std::vector<std::string> texts;
  if (const auto member = value.member(key)) {
    for (const JsonValue& one : member->elements()) {
      SEXTANT_TRY(std::string text, one.text());
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

Result<CapturedCall> captured_call(const JsonValue& value, std::size_t index) {
  CapturedCall call;
  SEXTANT_TRY(call.words, texts_member(value, "words"));
  if (call.words.empty()) {
    return invalid("a call without words", value.where(), "the program and its arguments");
  }
  SEXTANT_TRY(call.folder, text_member(value, "folder"));
  if (const auto open = value.member("open")) {
    for (const JsonValue& one : open->elements()) {
      SEXTANT_TRY(const std::int64_t word,
                  one.integer(0, static_cast<std::int64_t>(call.words.size()) - 1));
      call.open.push_back(static_cast<std::size_t>(word));
    }
  }
  if (const auto environment = value.member("environment")) {
    for (const std::string& key : environment->keys()) {
      SEXTANT_TRY(std::string text, text_member(*environment, key));
      call.environment.emplace_back(key, std::move(text));
    }
  }
  if (const auto outer = value.member("outer")) {
    if (index == 0) {
      return invalid("the first call has no other before it", outer->where(), "no \"outer\"");
    }
    SEXTANT_TRY(const std::int64_t before, outer->integer(0, static_cast<std::int64_t>(index) - 1));
    call.outer = static_cast<std::size_t>(before);
  }
  if (const auto launches = value.member("launches")) {
    SEXTANT_TRY(call.launches, launches->boolean());
  }
  return call;
}

Result<void> read_calls(const JsonValue& root, CaptureRecord& record) {
  const auto calls = root.member("calls");
  std::size_t words = 0;
  if (!calls) {
    return {};
  }
  if (calls->size() > kMostCaptureCalls) {
    return invalid(fmt::format("{} calls", calls->size()), calls->where(),
                   fmt::format("at most {}", kMostCaptureCalls));
  }
  for (const JsonValue& one : calls->elements()) {
    SEXTANT_TRY(CapturedCall call, captured_call(one, record.calls.size()));
    words += call.words.size();
    if (words > kMostCaptureWords) {
      return invalid("the calls have too many words", calls->where(),
                     fmt::format("at most {}", kMostCaptureWords));
    }
    record.calls.push_back(std::move(call));
  }
  return {};
}

bool counts_devices(const CapturedCall& call) {
  const std::string_view program = base_name(call.words.front());
  return std::ranges::find(kCountingLaunchers, program) != kCountingLaunchers.end();
}

ScriptWord script_word(const std::string& text, std::string_view name) {
  ScriptWord word;
  word.at.text = text;
  word.at.place.file = name;
  return word;
}

// The launchers around a call, outermost first, then its own words.
std::vector<ScriptWord> all_words(const CaptureRecord& record, const CapturedCall& call,
                                  std::string_view name) {
  std::vector<const CapturedCall*> chain{&call};
  for (auto outer = call.outer; outer && chain.size() < kMostOuters; outer = chain.back()->outer) {
    chain.push_back(&record.calls[*outer]);
  }
  std::ranges::reverse(chain);
  std::vector<ScriptWord> words;
  for (const CapturedCall* one : chain) {
    if (one != &call && !counts_devices(*one)) {
      continue;
    }
    for (std::size_t i = 0; i < one->words.size(); ++i) {
      words.push_back(script_word(one->words[i], name));
      if (std::ranges::find(one->open, i) != one->open.end()) {
        words.back().why =
            "it depends on an answer that nobody gave: capture again and say on what it runs";
      }
    }
  }
  return words;
}

// What was captured, as a script that has been read.
ShellScript script_of(const CaptureRecord& record, std::string_view name) {
  ShellScript script;
  for (const std::string& word : record.batch) {
    script.batch.push_back(script_word(word, name));
  }
  for (const CapturedCall& call : record.calls) {
    if (call.launches) {
      continue;
    }
    ScriptCommand command;
    command.words = all_words(record, call, name);
    for (const auto& [variable, value] : call.environment) {
      command.environment.push_back({variable, {script_word(value, name)}, true});
    }
    script.commands.push_back(std::move(command));
  }
  return script;
}

}  // namespace

Result<CaptureRecord> read_capture(std::string_view text, std::string_view name) {
  SEXTANT_TRY(const JsonValue root, JsonValue::parse(text, name, describe::kMostJson));
  CaptureRecord record;
  SEXTANT_TRY(const std::string schema, text_member(root, "schema"));
  if (schema != kCaptureSchema) {
    return invalid(
        fmt::format("'{}' is no record of a captured job that is known", printable(schema)),
        std::string(name), std::string(kCaptureSchema));
  }
  SEXTANT_TRY(record.command, texts_member(root, "command"));
  SEXTANT_TRY(record.folder, text_member(root, "folder"));
  SEXTANT_TRY(record.cluster, text_member(root, "cluster"));
  SEXTANT_TRY(record.batch, texts_member(root, "batch"));
  SEXTANT_CHECK_OK(read_calls(root, record));
  if (const auto files = root.member("files")) {
    for (const JsonValue& one : files->elements()) {
      CapturedFile file;
      SEXTANT_TRY(file.path, text_member(one, "path"));
      SEXTANT_TRY(file.text, text_member(one, "text"));
      record.files.push_back(std::move(file));
    }
  }
  SEXTANT_TRY(record.notes, texts_member(root, "notes"));
  return record;
}

Result<CaptureReading> parse_capture(std::string_view text, std::string_view name) {
  SEXTANT_TRY(CaptureRecord record, read_capture(text, name));
  CaptureReading reading;
  SEXTANT_TRY(reading.settings, settings_of_commands(script_of(record, name), name));
  if (!record.cluster.empty()) {
    reading.settings.launch.push_back({"cluster", {record.cluster}, {std::string(name), 0, 0, 0}});
  }
  for (CapturedFile& file : record.files) {
    reading.files.push_back({std::move(file.path), std::move(file.text), false});
  }
  return reading;
}

const File* captured_file(const std::vector<File>& files, std::string_view named) {
  std::string wanted = std::filesystem::path(named).lexically_normal().string();
  while (wanted.starts_with("../")) {
    wanted.erase(0, 3);
  }
  const auto is_it = [&](const File& file) {
    return file.name == wanted ||
           (file.name.size() > wanted.size() && file.name.ends_with(wanted) &&
            file.name[file.name.size() - wanted.size() - 1] == '/');
  };
  const auto found = std::ranges::find_if(files, is_it);
  return found == files.end() ? nullptr : &*found;
}

}  // namespace sextant::emit
