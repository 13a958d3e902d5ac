#include "emit/log_reading.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/log_lines.h"
#include "emit/log_literal.h"
#include "emit/log_run.h"
#include "emit/log_settings.h"
#include "emit/log_text.h"
#include "emit/log_yaml.h"

namespace sextant::emit {
namespace {

constexpr std::size_t kLongestLine = std::size_t{64} << 10;  // what is looked at of one line
constexpr std::size_t kLongestDump = std::size_t{1} << 20;  // characters of a printed configuration
constexpr std::size_t kMostDumpLines = 50'000;

// A configuration of several lines on its way in.
struct OpenDump {
  LogKind kind = LogKind::kMegatron;
  BracketDepth brackets{};
  std::string rank{};  // the launcher's mark on its first line
  std::string text{};
  std::vector<std::pair<std::size_t, std::int64_t>> lines{};  // where each begins, its number
  std::size_t seen = 0;                                       // lines, those of others among them

  void add(std::string_view line, std::int64_t number) {
    lines.emplace_back(text.size(), number);
    text += line;
    text += '\n';
    brackets.take(line);
  }
  [[nodiscard]] std::int64_t line_of(std::size_t offset) const {
    const auto after =
        std::upper_bound(lines.begin(), lines.end(), offset,
                         [](std::size_t at, const auto& line) { return at < line.first; });
    return after == lines.begin() ? 0 : std::prev(after)->second;
  }
};

// "[rank0]:", or nothing.
std::string_view rank_mark(std::string_view line) {
  return line.substr(0, line.size() - without_rank(line).size());
}

class LogParser {
 public:
  explicit LogParser(std::string_view name) : name_(name) {}

  void take(std::string_view whole_line, std::int64_t number, bool is_whole) {
    const std::string_view line = without_colours(whole_line.substr(0, kLongestLine), room_);
    number_ = number;
    if (dump_ && continue_dump(*dump_, line)) {
      return;
    }
    if (yaml_ && continue_yaml(*yaml_, line)) {
      return;
    }
    if (in_arguments_ && take_argument(line)) {
      return;
    }
    take_memory(line);
    if (const std::optional<StepLine> step = step_line(line)) {
      take_step(*step, is_whole || line.ends_with('|'));
    } else {
      // A configuration printed in one line may be long; its colours do not matter.
      take_settings(line, whole_line);
    }
  }

  Result<LogReading> finish();

 private:
  LogRun& run(LogKind kind) { return runs_.at(static_cast<std::size_t>(kind)); }
  [[nodiscard]] Place here() const { return {name_, number_, 0, 0}; }

  void take_memory(std::string_view line) {
    const MemoryPeaks peaks = memory_peaks(line);
    allocated_ = std::max(allocated_, peaks.allocated);
    reserved_ = std::max(reserved_, peaks.reserved);
  }

  void take_step(const StepLine& step, bool is_whole) {
    LogRun& run = this->run(step.kind);
    const std::int64_t runs = run.runs();
    const std::size_t before = run.steps().size();
    bridge_steps_ = bridge_steps_ || (step.kind == LogKind::kMegatron && step.step < 0);
    too_many_steps_ = !run.take_step(step) || too_many_steps_;
    forget_memory_of_earlier(run, runs);
    if (!is_whole && before > 0 && run.steps().size() > before) {
      run.drop_last_step();
      notes_.emplace_back("the last line is cut off and does not count");
    }
  }

  void take_found(FoundSetting found) {
    if (!found.kind) {
      device_.set(std::move(found.key), std::move(found.values), here());
      return;
    }
    LogRun& run = this->run(*found.kind);
    const std::int64_t runs = run.runs();
    run.take_setting(std::move(found), here());
    forget_memory_of_earlier(run, runs);
  }

  void forget_memory_of_earlier(const LogRun& run, std::int64_t runs) {
    if (run.runs() != runs) {
      allocated_.reset();
      reserved_.reset();
    }
  }

  void take_settings(std::string_view line, std::string_view whole_line) {
    if (begins_arguments(line)) {
      in_arguments_ = true;
      arguments_seen_ = true;
      return;
    }
    if (std::optional<DumpStart> start = dump_ ? std::nullopt : dump_start(line)) {
      const std::size_t at = line.size() - start->text.size();
      const bool same = whole_line.substr(0, line.size()) == line;
      open_dump({.kind = start->kind, .rank = std::string(rank_mark(line))},
                same ? whole_line.substr(at) : start->text);
      return;
    }
    if (std::optional<YamlDump> yaml = YamlDump::starting_at(line)) {
      yaml_ = std::move(yaml);
      bridge_config_ = true;
      return;
    }
    for (FoundSetting& found : settings_in_line(line)) {
      take_found(std::move(found));
    }
  }

  bool take_argument(std::string_view line) {
    if (ends_arguments(line)) {
      in_arguments_ = false;
      return true;
    }
    std::optional<FoundSetting> found = argument_line(line);
    if (!found) {
      return false;
    }
    take_found(std::move(*found));
    return true;
  }

  void open_dump(OpenDump start, std::string_view text) {
    OpenDump& dump = dump_.emplace(std::move(start));
    dump.add(text.substr(0, kLongestDump), number_);
    close_if_done(dump);
  }

  // Whether the line was part of the dump. A step ends a dump that never closed.
  bool continue_dump(OpenDump& dump, std::string_view line) {
    if (++dump.seen > kMostDumpLines || step_line(line)) {
      close(dump, "it breaks off before its last bracket");
      return false;
    }
    const std::string_view rank = rank_mark(line);
    const std::optional<std::string_view> part = dump_continuation(dump.kind, line);
    if (!part || (!rank.empty() && rank != dump.rank)) {
      return false;
    }
    dump.add(*part, number_);
    close_if_done(dump);
    return true;
  }

  void close_if_done(OpenDump& dump) {
    if (dump.brackets.depth <= 0) {
      close(dump, "");
    } else if (dump.text.size() >= kLongestDump) {
      close(dump, fmt::format("it is longer than {} characters", kLongestDump));
    }
  }

  // REQUIRES: `open` is the open dump.
  void close(OpenDump& open, std::string_view why) {
    const OpenDump dump = std::move(open);
    dump_.reset();
    const std::int64_t now = number_;
    for (LiteralField& field : literal_fields(dump.text)) {
      number_ = dump.line_of(field.offset);
      if (auto found = dumped_setting(dump.kind, std::move(field))) {
        take_found(std::move(*found));
      }
    }
    number_ = dump.lines.front().second;
    if (!why.empty()) {
      unresolved_.push_back({"the printed configuration", std::string(why), here()});
    }
    number_ = now;
  }

  bool continue_yaml(YamlDump& yaml, std::string_view line) {
    const YamlDump::Took took = yaml.take(line);
    if (took == YamlDump::Took::kLine) {
      const YamlDump::Field& field = yaml.field();
      if (field.item) {
        run(LogKind::kMegatron).take_list_item(field.key, field.values.front(), here());
      } else if (!field.key.empty() && !field.key.ends_with("_target_")) {
        take_found({LogKind::kMegatron, false, field.key, field.values});
      }
      return true;
    }
    if (took == YamlDump::Took::kEnd) {
      yaml_.reset();
    }
    return false;
  }

  [[nodiscard]] std::optional<LogKind> main_kind() const;
  [[nodiscard]] Dialect dialect(LogKind kind) const;
  void add_devices(LogReading& reading, LogKind kind) const;
  void say_what_is_missing(LogReading& reading, LogKind kind) const;

  std::string name_;
  std::int64_t number_ = 0;
  std::string room_;
  std::array<LogRun, kLogKinds> runs_;
  SettingList device_;
  std::optional<Bytes> allocated_;
  std::optional<Bytes> reserved_;
  std::optional<OpenDump> dump_;
  std::optional<YamlDump> yaml_;
  bool in_arguments_ = false;
  bool arguments_seen_ = false;
  bool bridge_config_ = false;
  bool bridge_steps_ = false;
  bool too_many_steps_ = false;
  std::vector<std::string> notes_;
  std::vector<Unresolved> unresolved_;
};

// The framework that reports the most steps. Megatron-DeepSpeed prints DeepSpeed's lines too: where
// Megatron's arguments stand in the log, they say more.
std::optional<LogKind> LogParser::main_kind() const {
  std::optional<LogKind> best;
  std::tuple<bool, bool, std::size_t, std::size_t> best_rank{};
  for (const auto& [kind, word] : kLogKindWords) {
    const LogRun& run = runs_.at(static_cast<std::size_t>(kind));
    const bool megatron = kind == LogKind::kMegatron && arguments_seen_;
    const std::tuple rank(!run.steps().empty(), megatron, run.steps().size(),
                          run.given().all().size());
    if (!run.empty() && (!best || best_rank < rank)) {
      best = kind;
      best_rank = rank;
    }
  }
  return best;
}

Dialect LogParser::dialect(LogKind kind) const {
  const SettingList& given = runs_.at(static_cast<std::size_t>(kind)).given();
  switch (kind) {
    case LogKind::kMegatron:
      return bridge_config_ || (bridge_steps_ && !arguments_seen_) ? Dialect::kBridge
                                                                   : Dialect::kMegatron;
    case LogKind::kTorchtitan:
      // The keys of 0.2.2 and before.
      return given.find("training.seq_len") != nullptr ||
                     given.find("training.local_batch_size") != nullptr
                 ? Dialect::kTorchtitanToml
                 : Dialect::kTorchtitan;
    case LogKind::kMaxtext:
      return Dialect::kMaxtext;
    case LogKind::kDeepspeed:
      return Dialect::kDeepspeed;
    case LogKind::kNanotron:
      return Dialect::kNanotron;
  }
  return Dialect::kMegatron;
}

// Devices that no line names but the numbers imply.
void LogParser::add_devices(LogReading& reading, LogKind kind) const {
  if (find(reading.settings.launch, "devices") != nullptr || !reading.measured) {
    return;
  }
  MeasuredRun& run = *reading.measured;
  if (!run.world && kind == LogKind::kMaxtext && run.step && run.global_batch && run.sequence &&
      run.tokens_per_second_per_device) {
    const double devices = static_cast<double>(*run.global_batch) *
                           static_cast<double>(*run.sequence) / run.step->base() /
                           *run.tokens_per_second_per_device;
    // Both are printed to three decimals or better; a whole number is near.
    if (devices >= 0.5 && devices < 1e7 && std::abs(devices / std::round(devices) - 1.0) < 0.01) {
      run.world = std::llround(devices);
      run.notes.push_back(fmt::format("{} devices follow from tokens/s/device", *run.world));
    }
  }
  if (run.world) {
    reading.settings.launch.push_back({"devices", {std::to_string(*run.world)}, {name_, 0, 0, 0}});
  }
}

void LogParser::say_what_is_missing(LogReading& reading, LogKind kind) const {
  const Place file{name_, 0, 0, 0};
  if (reading.settings.given.empty()) {
    reading.settings.unresolved.push_back(
        {"the settings of the run", "the log prints none that are known", file});
  }
  if (!reading.measured) {
    reading.unresolved.push_back({"step time", "the log has no line of a finished step", file});
  } else if (!reading.measured->step) {
    reading.unresolved.push_back(
        {"step time",
         kind == LogKind::kDeepspeed
             ? "the log has samples a second only, and does not say train_batch_size"
             : "the log has tokens a second and device only, and does not say the tokens of a step "
               "and the devices",
         file});
  }
}

Result<LogReading> LogParser::finish() {
  if (dump_) {
    close(*dump_, "it breaks off before its last bracket");
  }
  const std::optional<LogKind> kind = main_kind();
  if (!kind) {
    return invalid("no line of a training framework", name_,
                   "a log of Megatron-LM, Megatron-Bridge, torchtitan, MaxText, DeepSpeed or "
                   "nanotron");
  }
  LogRun& run = this->run(*kind);
  LogReading reading;
  reading.settings.dialect = dialect(*kind);
  reading.settings.printed = {name_};
  reading.settings.given = run.given().all();
  reading.settings.launch = run.launch().all();
  for (Setting& device : device_.all()) {
    reading.settings.launch.push_back(std::move(device));
  }
  reading.settings.unresolved = std::move(unresolved_);
  reading.measured = measured_run(
      run.steps(), step_size(*kind, reading.settings.dialect == Dialect::kBridge, run));
  if (reading.measured) {
    MeasuredRun& measured = *reading.measured;
    measured.max_allocated = allocated_;
    measured.max_reserved = reserved_;
    measured.notes.insert(measured.notes.end(), notes_.begin(), notes_.end());
    if (run.runs() > 1) {
      measured.notes.push_back(
          fmt::format("the log holds {} runs; the last one counts", run.runs()));
    }
    if (too_many_steps_) {
      measured.notes.push_back(
          fmt::format("steps after the first {} are not kept",
                      with_thousands(static_cast<std::int64_t>(run.steps().size()))));
    }
  }
  add_devices(reading, *kind);
  say_what_is_missing(reading, *kind);
  return reading;
}

}  // namespace

Result<LogReading> parse_log(std::string_view text, std::string_view name) {
  LogParser parser(name);
  for_each_line(text, [&](std::string_view line, std::int64_t number, bool is_whole) {
    parser.take(line, number, is_whole);
  });
  return parser.finish();
}

bool looks_like_log(std::string_view head) {
  bool in_arguments = false;
  bool found = false;
  std::string room;
  for_each_line(head, [&](std::string_view whole_line, std::int64_t, bool) {
    if (found) {
      return;
    }
    const std::string_view line = without_colours(whole_line.substr(0, kLongestLine), room);
    const std::optional<StepLine> step = step_line(line);
    found = (step && step->is_timed()) || (in_arguments && argument_line(line));
    in_arguments = in_arguments || begins_arguments(line);
    if (!found) {
      const std::vector<FoundSetting> settings = settings_in_line(line);
      found = std::any_of(settings.begin(), settings.end(),
                          [](const FoundSetting& setting) { return setting.kind.has_value(); });
    }
  });
  return found;
}

}  // namespace sextant::emit
