#include "app/diagnose.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "app/recorded_devices.h"
#include "base/text.h"

namespace sextant::app {
namespace {

// Beyond that a table is no table for people.
constexpr std::int64_t kMostRows = 100'000;

Result<std::optional<std::int64_t>> rows_asked(const std::string& word) {
  if (word.empty()) {
    return std::nullopt;
  }
  const auto rows = to_integer(word);
  if (!rows || *rows < 1 || *rows > kMostRows) {
    return invalid(fmt::format("'{}' is no number of rows", printable(word)), "‹top›",
                   fmt::format("1 to {}", with_thousands(kMostRows)));
  }
  return rows;
}

void add_totals(const metrics::RankTotals& of, metrics::RankTotals& into) {
  into.steps += of.steps;
  into.time += of.time;
  into.idle += of.idle;
  into.queue += of.queue;
  into.launches += of.launches;
  for (std::size_t i = 0; i < into.path_ns.size(); ++i) {
    into.path_ns[i] += of.path_ns[i];
  }
  into.assumed_waits += of.assumed_waits;
  into.flops += of.flops;
  if (of.memory && (!into.memory || of.memory->allocated_bytes > into.memory->allocated_bytes)) {
    into.memory = of.memory;
  }
}

// What all ranks did, as one.
void add_tables(explain::DiagnoseAnswer& answer) {
  for (explain::DiagnosedRank& rank : answer.ranks) {
    add_totals(rank.totals, answer.totals);
    const auto take = [](auto& from, auto& into) {
      std::move(from.begin(), from.end(), std::back_inserter(into));
      from.clear();
    };
    take(rank.measures.kernels, answer.kernels);
    take(rank.measures.operators, answer.operators);
    take(rank.measures.collectives, answer.collectives);
  }
  answer.kernels = metrics::folded(std::move(answer.kernels));
  answer.operators = metrics::folded(std::move(answer.operators));
  answer.collectives = metrics::folded(std::move(answer.collectives));
}

}  // namespace

Result<Answered<explain::DiagnoseAnswer>> diagnose(const DiagnoseRequest& request,
                                                   const Context& context, const Control& control) {
  SEXTANT_TRY(const std::optional<std::int64_t> top, rows_asked(request.top));
  SEXTANT_TRY(TraceReading reading, read_traces(request.traces, context, control));
  explain::DiagnoseAnswer answer;
  answer.provenance.tool_version = explain::tool_version();
  answer.top = top;
  answer.verbose = request.verbose;
  std::vector<timeline::RecordedRank> recorded;
  for (RankReading& rank : reading.ranks) {
    recorded.push_back(rank.recorded);
    if (!rank.measures.has_device) {
      recorded.back().device.reset();  // it is there, and nothing ran on it
    }
    if (rank.recorded.world) {
      answer.world = std::max(answer.world.value_or(0), *rank.recorded.world);
    }
    metrics::RankTotals totals = metrics::totals(rank.measures);
    answer.ranks.push_back({std::move(rank.recorded), std::move(rank.measures), totals});
  }
  add_tables(answer);
  SEXTANT_TRY(KnownDevices devices, known_devices(recorded, request.device, context));
  answer.assumed = std::move(devices.assumed);
  answer.files = std::move(reading.files);
  answer.unread = std::move(reading.unread);
  return Answered<explain::DiagnoseAnswer>{
      .answer = std::move(answer),
      .outcome = reading.is_stopped ? Outcome::kInterrupted : Outcome::kFine,
      .notes = std::move(reading.notes)};
}

}  // namespace sextant::app
