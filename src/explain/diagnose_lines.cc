#include "explain/diagnose_lines.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/diagnose_words.h"
#include "explain/percent.h"

namespace sextant::explain {
namespace {

using sextant::to_text;

std::string counted(std::size_t count, std::string_view one) {
  return fmt::format("{} {}{}", with_thousands(static_cast<std::int64_t>(count)), one,
                     count == 1 ? "" : "s");
}

// The devices' names, each once, in order of rank.
std::string device_names(const DiagnoseAnswer& answer) {
  std::vector<std::string> names;
  for (const DiagnosedRank& rank : answer.ranks) {
    std::string name = printable(rank.summary.device, 40);
    if (!rank.summary.has_device) {
      name = "CPU";
    }
    name = name.empty() ? "device not said" : name;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  if (names.size() > 3) {
    const std::size_t more = names.size() - 3;
    names.resize(3);
    names.push_back(fmt::format("{} more", more));
  }
  return join(names, ", ");
}

std::string recorder_names(const DiagnoseAnswer& answer) {
  std::vector<std::string> names;
  for (const DiagnosedFile& file : answer.files) {
    const std::string name(recorder_name(file.recorder));
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return join(names, ", ");
}

std::string ranks_text(const DiagnoseAnswer& answer) {
  const std::vector<std::int64_t> numbers = rank_numbers(answer);
  std::string text = answer.ranks.size() == 1 ? fmt::format("rank {}", numbers.front())
                                              : counted(answer.ranks.size(), "rank");
  if (answer.world) {
    text += fmt::format(" of {}", with_thousands(*answer.world));
  }
  return text;
}

std::string read_line(const DiagnoseAnswer& answer) {
  Bytes bytes;
  for (const DiagnosedFile& file : answer.files) {
    bytes += file.bytes;
  }
  return fmt::format("{}; {}; {} ({}), {}", ranks_text(answer), device_names(answer),
                     answer.files.size() == 1 ? short_file_name(answer.files.front().name)
                                              : counted(answer.files.size(), "file"),
                     to_text(bytes), recorder_names(answer));
}

// "3-7"; of many pieces the first few, the last and how many there are.
std::string step_list(const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t kShown = 48;
  std::string text = number_list(numbers);
  if (text.size() <= kShown) {
    return text;
  }
  text.resize(text.rfind(',', kShown));
  return fmt::format("{} … {} ({})", text, numbers.back(), numbers.size());
}

// How the steps of a rank were found, and which are left out.
std::string steps_way(const DiagnosedRank& rank) {
  const metrics::RankSummary& summary = rank.summary;
  std::string kept = step_list(kept_numbers(summary));
  if (const std::int64_t more = rank.totals.steps - std::ssize(summary.steps); more > 0) {
    kept += fmt::format(" and {} more", with_thousands(more));
  }
  std::string way;
  switch (summary.basis) {
    case metrics::StepBasis::kMarkers:
      way = fmt::format("{} {} as marked", summary.steps.size() == 1 ? "step" : "steps", kept);
      break;
    case metrics::StepBasis::kPeriod:
      way = fmt::format("no step is marked: {} found by what repeats ({})",
                        counted(summary.steps.size(), "step"), printable(summary.found_by, 50));
      break;
    case metrics::StepBasis::kWhole:
      way = "no step is marked and nothing repeats: the whole recording is one window";
      break;
  }
  const std::int64_t left_out = summary.recorded - rank.totals.steps;
  if (left_out > 0) {
    way += left_out == 2
               ? std::string("; the first and the last are left out")
               : fmt::format("; {} left out", counted(static_cast<std::size_t>(left_out), "step"));
  }
  return way;
}

// Of the ranks of each way.
std::string steps_line(const DiagnoseAnswer& answer) {
  std::vector<std::pair<std::string, std::size_t>> ways;
  for (const DiagnosedRank& rank : answer.ranks) {
    std::string way = steps_way(rank);
    const auto known = std::ranges::find(ways, way, &std::pair<std::string, std::size_t>::first);
    if (known == ways.end()) {
      ways.emplace_back(std::move(way), 1);
    } else {
      ++known->second;
    }
  }
  std::string text = ways.front().first;
  if (ways.size() > 1) {
    text += fmt::format(" ({}); otherwise on {}", counted(ways.front().second, "rank"),
                        counted(answer.ranks.size() - ways.front().second, "rank"));
  }
  return text;
}

std::string step_time_text(const DiagnoseAnswer& answer, const Style& style) {
  std::int64_t shortest = 0;
  std::int64_t longest = 0;
  for (const DiagnosedRank& rank : answer.ranks) {
    for (const metrics::StepMeasures& step : rank.summary.steps) {
      const std::int64_t time = step.time.total_ns();
      shortest = longest == 0 ? time : std::min(shortest, time);
      longest = std::max(longest, time);
    }
  }
  std::string text = bold(to_text(mean_step(answer.totals)), style);
  if (answer.totals.steps > 1) {
    const auto ranks = static_cast<std::int64_t>(answer.ranks.size());
    const std::int64_t each = answer.totals.steps % ranks == 0 ? answer.totals.steps / ranks : 0;
    text +=
        fmt::format(", mean of {} ({} … {})",
                    ranks == 1 ? counted(static_cast<std::size_t>(each), "step")
                    : each > 0 ? fmt::format("{} × {}", counted(answer.ranks.size(), "rank"),
                                             counted(static_cast<std::size_t>(each), "step"))
                               : fmt::format("{} steps on {} ranks", answer.totals.steps, ranks),
                    to_text(seconds_of(shortest)), to_text(seconds_of(longest)));
  }
  return text;
}

// "host late 62.0 %, launching 20.1 %": the largest first, those of a tenth of a percent and more.
template <typename Parts>
std::string shares_text(const Parts& given, std::int64_t whole_ns) {
  std::vector<TimePart> parts(given.begin(), given.end());
  std::stable_sort(parts.begin(), parts.end(),
                   [](const TimePart& a, const TimePart& b) { return a.time_ns > b.time_ns; });
  std::vector<std::string> words;
  for (const TimePart& part : parts) {
    const auto share = ns_share(part.time_ns, whole_ns);
    if (share && *share >= 0.001) {
      words.push_back(fmt::format("{} {}", part.word, percent(share)));
    }
  }
  return words.empty() ? "nothing" : join(words, ", ");
}

std::string communication_text(const DiagnoseAnswer& answer) {
  const metrics::RankTotals& totals = answer.totals;
  if (totals.time.communication_ns == 0 || !answer.kpis) {
    return "none is seen";
  }
  const metrics::Kpis& kpis = *answer.kpis;
  std::string text =
      fmt::format("{} of the step ({} by named collectives), {} of that behind compute",
                  percent(kpis.communication_share), percent(kpis.standard_communication_share),
                  percent(ns_share(totals.time.overlap_ns, totals.time.communication_ns)));
  if (kpis.mean_all_reduce) {
    text += fmt::format("; one mean all-reduce {}, {} of the step", to_text(*kpis.mean_all_reduce),
                        percent(kpis.all_reduce_share));
  }
  return text;
}

std::string diagnosed_use_text(const metrics::Kpis& kpis) {
  std::string text = fmt::format("busy {} of the step", percent(kpis.duty_cycle));
  constexpr double kWorthSaying = 0.001;
  const auto add = [&text](std::string_view what, const std::optional<double>& share) {
    if (share.value_or(0.0) >= kWorthSaying) {
      text += fmt::format("; {} {}", what, percent(share));
    }
  };
  add("of the peak, FLOPs recorded are", kpis.flops_utilisation);
  add("of memory's bandwidth, bytes recorded are", kpis.memory_utilisation);
  add("MFU", kpis.mfu);
  add("goodput", kpis.goodput);
  return text;
}

std::string peak_memory_text(const DiagnoseAnswer& answer) {
  const auto& memory = answer.totals.memory;
  if (!memory) {
    return "not recorded";
  }
  const auto text = [](std::int64_t bytes) { return to_text(static_cast<double>(bytes) * 1_B); };
  return fmt::format("{} allocated at the most, {} reserved", text(memory->allocated_bytes),
                     text(memory->reserved_bytes));
}

}  // namespace

std::string short_file_name(std::string_view path) {
  constexpr std::size_t kShown = 40;
  const std::size_t slash = path.rfind('/');
  const std::string name =
      printable(slash == std::string_view::npos ? path : path.substr(slash + 1), 255);
  return name.size() <= kShown ? name : "…" + name.substr(name.size() - kShown);
}

std::vector<DiagnosisLine> diagnosis_head(const DiagnoseAnswer& answer, const Style& style) {
  return {{"read", read_line(answer)},
          {"steps", steps_line(answer)},
          {"step", step_time_text(answer, style)}};
}

std::vector<DiagnosisLine> diagnosis_state(const DiagnoseAnswer& answer) {
  const metrics::RankTotals& totals = answer.totals;
  std::vector<DiagnosisLine> lines;
  if (answer.findings && answer.verbose) {
    const diagnose::BottleneckClass& bottleneck = answer.findings->diagnosis.bottleneck;
    lines.push_back({"bound", fmt::format("{}: {}", diagnose::name_of(bottleneck.bottleneck),
                                          bottleneck.reason)});
  }
  if (totals.time.idle_ns > 0) {
    lines.push_back({"idle", shares_text(idle_parts(totals.idle), totals.time.idle_ns)});
  }
  lines.push_back({"path", shares_text(path_parts(totals.path_ns), totals.time.total_ns())});
  if (answer.verbose) {
    lines.push_back(
        {"spent", shares_text(category_parts(totals.categories_ns), totals.time.total_ns())});
  }
  lines.push_back({"comm.", communication_text(answer)});
  if (answer.kpis) {
    lines.push_back({"use", diagnosed_use_text(*answer.kpis)});
  }
  if (totals.memory || answer.verbose) {
    lines.push_back({"memory", peak_memory_text(answer)});
  }
  return lines;
}

std::string scope_text(const DiagnoseAnswer& answer) {
  if (is_whole_job(answer).value_or(true)) {
    return {};
  }
  return fmt::format("{} of {} ranks: nothing is said of the job as a whole", answer.ranks.size(),
                     answer.world.value_or(0));
}

}  // namespace sextant::explain
