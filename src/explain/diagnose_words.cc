#include "explain/diagnose_words.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::explain {
namespace {

struct RecorderWord {
  std::optional<timeline::Recorder> recorder;
  std::string_view word;
  std::string_view name;
};
constexpr std::array<RecorderWord, 6> kRecorderWords{
    {{timeline::Recorder::kKineto, "kineto", "PyTorch profiler"},
     {timeline::Recorder::kNsight, "nsys", "Nsight Systems"},
     {timeline::Recorder::kXplane, "xplane", "XLA profiler"},
     {timeline::Recorder::kChrome, "chrome", "Chrome trace"},
     {timeline::Recorder::kSextant, "sextant", "predicted by Sextant"},
     {std::nullopt, "summary", "summaries"}}};

const RecorderWord& words_of(std::optional<timeline::Recorder> recorder) {
  return *std::find_if(kRecorderWords.begin(), kRecorderWords.end() - 1,
                       [&](const RecorderWord& one) { return one.recorder == recorder; });
}

constexpr std::array<std::pair<std::string_view, std::string_view>, metrics::kBounds> kPathWords{
    {{"compute_s", "compute"},
     {"communication_s", "communication"},
     {"copy_s", "copy"},
     {"between_kernels_s", "between kernels"},
     {"launch_s", "launch"},
     {"dependency_s", "dependency"},
     {"host_s", "host"},
     {"sync_s", "sync"},
     {"unknown_s", "unknown"}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, metrics::kStepCategories>
    kCategoryWords{{{"compile_s", "compile"},
                    {"input_s", "input"},
                    {"output_s", "output"},
                    {"launch_s", "launch"},
                    {"host_s", "host"},
                    {"collective_s", "collective"},
                    {"device_to_device_s", "device to device"},
                    {"compute_s", "compute"},
                    {"other_s", "other"}}};

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;) {
    text.erase(at, part.size());
  }
}

// Where the arguments of a function begin: the '(' that the last ')' closes.
std::size_t arguments_at(std::string_view name) {
  if (!name.ends_with(')')) {
    return name.size();
  }
  std::size_t depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    depth += name[at] == ')' ? 1U : 0U;
    depth -= name[at] == '(' ? 1U : 0U;
    if (depth == 0) {
      return at == 0 ? name.size() : at;
    }
  }
  return name.size();
}

}  // namespace

std::array<TimePart, 4> step_parts(const metrics::Breakdown& time) {
  return {{{"compute_s", "compute", time.compute_ns},
           {"exposed_comm_s", "exposed communication", time.exposed_communication_ns},
           {"exposed_copy_s", "exposed copies", time.exposed_copy_ns},
           {"idle_s", "idle", time.idle_ns}}};
}

std::array<TimePart, 6> idle_parts(const metrics::IdleCauses& idle) {
  return {{{"host_late_s", "host late", idle.host_late_ns},
           {"host_blocked_s", "host blocked", idle.host_blocked_ns},
           {"launching_s", "launching", idle.launching_ns},
           {"dependency_s", "dependency", idle.dependency_ns},
           {"other_s", "between kernels", idle.other_ns},
           {"unknown_s", "unknown", idle.unknown_ns}}};
}

std::vector<TimePart> path_parts(const std::array<std::int64_t, metrics::kBounds>& path_ns) {
  std::vector<TimePart> parts;
  for (std::size_t i = 0; i < path_ns.size(); ++i) {
    parts.push_back({kPathWords[i].first, kPathWords[i].second, path_ns[i]});
  }
  return parts;
}

std::vector<TimePart> category_parts(const metrics::CategoryTimes& times) {
  std::vector<TimePart> parts;
  for (std::size_t i = 0; i < times.size(); ++i) {
    parts.push_back({kCategoryWords[i].first, kCategoryWords[i].second, times[i]});
  }
  return parts;
}

Seconds mean_of(std::int64_t sum_ns, const metrics::RankTotals& totals) {
  return totals.steps > 0 ? seconds_of(sum_ns) / static_cast<double>(totals.steps) : Seconds();
}

Seconds mean_step(const metrics::RankTotals& totals) {
  return mean_of(totals.time.total_ns(), totals);
}

std::string_view recorder_word(std::optional<timeline::Recorder> recorder) {
  return words_of(recorder).word;
}
std::string_view recorder_name(std::optional<timeline::Recorder> recorder) {
  return words_of(recorder).name;
}

std::string_view basis_word(metrics::StepBasis basis) {
  switch (basis) {
    case metrics::StepBasis::kMarkers:
      return "markers";
    case metrics::StepBasis::kPeriod:
      return "period";
    case metrics::StepBasis::kWhole:
      break;
  }
  return "whole";
}

std::string number_list(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) {
      ++last;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    if (last > i) {
      text += fmt::format("{}{}", last > i + 1 ? "-" : ",", numbers[last]);
    }
    i = last + 1;
  }
  return text;
}

std::vector<std::int64_t> rank_numbers(const DiagnoseAnswer& answer) {
  std::vector<std::int64_t> numbers;
  for (const DiagnosedRank& rank : answer.ranks) {
    numbers.push_back(rank.summary.rank.value);
  }
  return numbers;
}

std::vector<std::int64_t> kept_numbers(const metrics::RankSummary& rank) {
  std::vector<std::int64_t> numbers;
  for (const metrics::StepMeasures& step : rank.steps) {
    numbers.push_back(step.number);
  }
  return numbers;
}

std::string collective_word(const metrics::CollectiveRow& row) {
  for (const auto& [op, word] : kCollectiveOpWords) {
    if (row.op == op) {
      return std::string(word);
    }
  }
  return row.word.empty() ? "unknown" : row.word;
}

std::string short_kernel_name(std::string_view name, std::size_t width) {
  std::string text(name.substr(0, 4096));
  for (const std::string_view part : {"(anonymous namespace)::", "at::native::", "c10::"}) {
    erase_all(text, part);
  }
  if (text.starts_with("void ")) {
    text.erase(0, 5);
  }
  text.erase(arguments_at(text));
  return printable(text, width);
}

std::optional<bool> is_whole_job(const DiagnoseAnswer& answer) {
  if (!answer.world) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(answer.ranks.size()) >= *answer.world;
}

}  // namespace sextant::explain
