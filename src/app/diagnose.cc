#include "app/diagnose.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "app/recorded_devices.h"
#include "base/text.h"
#include "describe/layout/precision.h"

namespace sextant::app {
namespace {

// Beyond that a table is no table for people.
constexpr std::int64_t kMostRows = 100'000;
// Of a step: a million times what the largest cluster does in an hour.
constexpr double kMostFlops = 1e30;

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

Result<std::optional<Flops>> flops_asked(const std::string& word) {
  if (word.empty()) {
    return std::nullopt;
  }
  const auto flops = to_double(word);
  if (!flops || !(*flops > 0.0) || *flops > kMostFlops) {
    return invalid(fmt::format("'{}' is no number of FLOPs", printable(word)), "‹model-flops›",
                   "a number above 0, such as 4.2e15");
  }
  return Flops(*flops);
}

// What all ranks did, as one.
void add_up(explain::DiagnoseAnswer& answer) {
  for (explain::DiagnosedRank& rank : answer.ranks) {
    answer.totals += rank.totals;
    const auto take = [](auto& from, auto& into) {
      std::ranges::move(from, std::back_inserter(into));
      from.clear();
    };
    take(rank.summary.kernels, answer.kernels);
    take(rank.summary.operators, answer.operators);
    take(rank.summary.collectives, answer.collectives);
  }
  answer.kernels = metrics::folded(std::move(answer.kernels));
  answer.operators = metrics::folded(std::move(answer.operators));
  answer.collectives = metrics::folded(std::move(answer.collectives));
}

// The device's peaks of what training multiplies in.
std::optional<explain::DiagnosedPeaks> peaks_of(const describe::Device& device) {
  const std::optional<describe::DType> format = describe::usual_format(device);
  if (!format) {
    return std::nullopt;
  }
  return explain::DiagnosedPeaks{
      .device = device.id,
      .format = std::string(describe::word_of<describe::DType>(describe::kDTypeWords, *format)),
      .peaks = {.compute = device.peak(*format)->value,
                .memory = device.memory_bandwidth.value,
                .on_chip = std::nullopt}};
}

// Peaks, where all ranks have one device that is known.
std::optional<explain::DiagnosedPeaks> common_peaks(const KnownDevices& devices) {
  const std::optional<describe::Device>& first = devices.of_rank.front();
  for (const std::optional<describe::Device>& device : devices.of_rank) {
    if (!device || !first || device->id != first->id) {
      return std::nullopt;
    }
  }
  return first ? peaks_of(*first) : std::nullopt;
}

Result<void> add_utilisation(const DiagnoseRequest& request, const Context& context,
                             explain::DiagnoseAnswer& answer) {
  SEXTANT_TRY(const std::optional<Flops> model_flops, flops_asked(request.model_flops));
  std::vector<std::string> names;
  for (const explain::DiagnosedRank& rank : answer.ranks) {
    // A device may be there without that anything ran on it.
    names.push_back(rank.summary.has_device ? rank.summary.device : std::string());
  }
  SEXTANT_TRY(KnownDevices devices, known_devices(names, request.device, context));
  answer.assumed = std::move(devices.assumed);
  answer.peaks = common_peaks(devices);
  if (answer.peaks) {
    answer.assumed.push_back({"peak", answer.peaks->format,
                              "utilisation and rooflines are of its dense rate",
                              fmt::format("data/devices/{}.toml", answer.peaks->device)});
  }
  const metrics::DevicePeaks peaks = answer.peaks ? answer.peaks->peaks : metrics::DevicePeaks{};
  answer.kpis =
      metrics::kpis(answer.totals, answer.operators, answer.collectives, peaks, model_flops);
  answer.rooflines = metrics::top_operators(answer.operators, peaks, answer.operators.size());
  return {};
}

explain::HtaAnswer hta_answer(TraceReading& reading, std::optional<std::int64_t> top) {
  explain::HtaAnswer answer{.provenance = std::move(reading.provenance),
                            .ranks = std::move(reading.hta),
                            .types = {},
                            .top = top};
  std::vector<metrics::HtaTypeRow> rows;
  for (const explain::HtaRankTables& rank : answer.ranks) {
    rows.insert(rows.end(), rank.types.begin(), rank.types.end());
  }
  answer.types = metrics::hta_types_joined(rows);
  return answer;
}

Result<explain::DiagnoseAnswer> diagnose_answer(TraceReading& reading,
                                                const DiagnoseRequest& request,
                                                const Context& context) {
  explain::DiagnoseAnswer answer;
  answer.provenance = std::move(reading.provenance);
  answer.verbose = request.verbose;
  for (RankReading& rank : reading.ranks) {
    if (rank.summary.world) {
      answer.world = std::max(answer.world.value_or(0), *rank.summary.world);
    }
    const metrics::RankTotals totals = rank.summary.total();
    answer.ranks.push_back(
        {.summary = std::move(rank.summary), .totals = totals, .is_stated = rank.is_stated});
  }
  add_up(answer);
  SEXTANT_CHECK_OK(add_utilisation(request, context, answer));
  answer.files = std::move(reading.files);
  answer.unread = std::move(reading.unread);
  return answer;
}

}  // namespace

Result<Answered<Diagnosis>> diagnose(const DiagnoseRequest& request, const Context& context,
                                     const Control& control) {
  SEXTANT_TRY(const std::optional<std::int64_t> top, rows_asked(request.top));
  SEXTANT_TRY(TraceReading reading, read_traces(request.traces, context, control));
  Answered<Diagnosis> answered{
      .answer = {},
      .outcome = reading.is_stopped ? Outcome::kInterrupted : Outcome::kFine,
      .notes = std::move(reading.notes)};
  if (request.traces.as_hta) {
    answered.answer = hta_answer(reading, top);
    return answered;
  }
  SEXTANT_TRY(explain::DiagnoseAnswer answer, diagnose_answer(reading, request, context));
  answer.top = top;
  answered.answer = std::move(answer);
  return answered;
}

}  // namespace sextant::app
