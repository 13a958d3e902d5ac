#include "explain/diagnose_json.h"

#include <algorithm>

#include "base/text.h"
#include "explain/diagnose_words.h"
#include "explain/fabric_view.h"
#include "explain/finding_json.h"
#include "explain/json.h"
#include "explain/laid_view.h"
#include "explain/unread_json.h"

namespace sextant::explain {
namespace {

// A model of a hundred layers runs some hundred kernels; who asks for more says ‹top›.
constexpr std::int64_t kRowsInJson = 100;

double seconds(std::int64_t time_ns) {
  return seconds_of(time_ns).base();
}

// Foreign names may hold any bytes.
std::string safe(std::string_view text) {
  return printable(text, text.size() * 4 + 1);
}

Json text_or_null(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(safe(text));
}

std::size_t rows_shown(const DiagnoseAnswer& answer, std::size_t rows) {
  return std::min(rows, static_cast<std::size_t>(answer.top.value_or(kRowsInJson)));
}

template <typename Parts>
Json parts_json(const Parts& parts, const metrics::RankTotals& totals) {
  Json json = Json::object();
  for (const TimePart& part : parts) {
    json[std::string(part.key)] = mean_of(part.time_ns, totals).base();
  }
  return json;
}

Json memory_peak_json(const std::optional<metrics::MemoryPeak>& memory) {
  if (!memory) {
    return nullptr;
  }
  return {{"allocated_bytes", memory->allocated_bytes}, {"reserved_bytes", memory->reserved_bytes}};
}

Json queue_json(const metrics::RankTotals& totals) {
  if (totals.queue.total_ns() == 0) {
    return nullptr;
  }
  return {{"mean_calls", totals.queue.mean()},
          {"deepest_calls", totals.queue.deepest},
          {"empty_share", totals.queue.empty_share()}};
}

Json launch_json(const metrics::LaunchDelays& launches) {
  if (launches.delay.count == 0) {
    return nullptr;
  }
  return {{"calls", launches.delay.count},
          {"delay_mean_s", launches.delay.mean_ns() * 1e-9},
          {"delay_to_idle_stream_mean_s", launches.idle.mean_ns() * 1e-9},
          {"call_mean_s", launches.call.mean_ns() * 1e-9}};
}

// What ranks and the whole have alike.
void add_totals(Json& json, const metrics::RankTotals& totals) {
  json["step_time_s"] = mean_step(totals).base();
  json["breakdown"] = parts_json(step_parts(totals.time), totals);
  json["communication_s"] = mean_of(totals.time.communication_ns, totals).base();
  json["copy_s"] = mean_of(totals.time.copy_ns, totals).base();
  json["overlap_s"] = mean_of(totals.time.overlap_ns, totals).base();
  json["idle_by_cause"] = parts_json(idle_parts(totals.idle), totals);
  json["critical_path"] = parts_json(path_parts(totals.path_ns), totals);
  json["step_categories"] = parts_json(category_parts(totals.categories_ns), totals);
  json["memory_peak"] = memory_peak_json(totals.memory);
  json["queue"] = queue_json(totals);
  json["launches"] = launch_json(totals.launches);
}

Json steps_json(const metrics::RankSummary& rank) {
  Json list = Json::array();
  for (const metrics::StepMeasures& step : rank.steps) {
    Json json;
    json["number"] = step.number;
    json["step_time_s"] = seconds(step.time.total_ns());
    for (const TimePart& part : step_parts(step.time)) {
      json[std::string(part.key)] = seconds(part.time_ns);
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json diagnosed_rank_json(const DiagnosedRank& rank) {
  Json json;
  json["rank"] = rank.summary.rank.value;
  json["rank_is_stated"] = rank.is_stated;
  json["host"] = text_or_null(rank.summary.host);
  json["device"] = text_or_null(rank.summary.device);
  json["has_device_work"] = rank.summary.has_device;
  json["step_basis"] = basis_word(rank.summary.basis);
  json["steps_found_by"] = text_or_null(rank.summary.found_by);
  json["steps_left_out"] = rank.summary.recorded - rank.totals.steps;
  add_totals(json, rank.totals);
  json["steps"] = steps_json(rank.summary);
  return json;
}

Json collective_row_json(const metrics::CollectiveRow& row, const metrics::RankTotals& totals) {
  const auto algorithm = row.algorithm_bandwidth();
  const auto bus = row.bus_bandwidth();
  Json json;
  json["collective"] = safe(collective_word(row));
  json["ranks"] = or_null(row.ranks);
  json["size_up_to_bytes"] = or_null(row.size_class);
  json["count"] = row.time.count;
  json["time_s"] = mean_of(row.time.total_ns, totals).base();
  json["mean_s"] = row.time.mean_ns() * 1e-9;
  json["min_s"] = seconds(row.time.min_ns);
  json["max_s"] = seconds(row.time.max_ns);
  json["algorithm_bandwidth_GBps"] = algorithm ? Json(*algorithm / 1_GBps) : Json(nullptr);
  json["bus_bandwidth_GBps"] = bus ? Json(*bus / 1_GBps) : Json(nullptr);
  json["fastest_algorithm_bandwidth_GBps"] =
      row.fastest ? Json(*row.fastest / 1_GBps) : Json(nullptr);
  return json;
}

Json spread_json(const metrics::Spread& time, const metrics::RankTotals& totals,
                 std::int64_t whole_ns) {
  Json json;
  json["count"] = time.count;
  json["time_s"] = mean_of(time.total_ns, totals).base();
  json["share"] = or_null(ns_share(time.total_ns, whole_ns));
  json["mean_s"] = time.mean_ns() * 1e-9;
  json["min_s"] = seconds(time.min_ns);
  json["max_s"] = seconds(time.max_ns);
  json["deviation_s"] = time.deviation_ns() * 1e-9;
  return json;
}

Json kpis_json(const DiagnoseAnswer& answer) {
  if (!answer.kpis) {
    return nullptr;
  }
  const metrics::Kpis& kpis = *answer.kpis;
  Json json;
  json["device"] = answer.peaks ? Json(answer.peaks->device) : Json(nullptr);
  json["step_s"] = kpis.step.base();
  json["busy_s"] = kpis.busy.base();
  json["duty_cycle"] = kpis.duty_cycle;
  json["flops_utilisation"] = or_null(kpis.flops_utilisation);
  json["memory_utilisation"] = or_null(kpis.memory_utilisation);
  json["mfu"] = or_null(kpis.mfu);
  json["goodput"] = or_null(kpis.goodput);
  json["mean_all_reduce_s"] =
      kpis.mean_all_reduce ? Json(kpis.mean_all_reduce->base()) : Json(nullptr);
  json["mean_all_reduce_share"] = or_null(kpis.all_reduce_share);
  json["standard_communication_share"] = kpis.standard_communication_share;
  json["communication_share"] = kpis.communication_share;
  json["exposed_communication_share"] = kpis.exposed_share;
  return json;
}

Json roofline_json(const metrics::OperatorRoofline& of) {
  Json json;
  json["bound"] = metrics::name_of(of.bound);
  json["rate_TFLOPps"] = of.rate ? Json(*of.rate / 1_TFLOPps) : Json(nullptr);
  json["bandwidth_GBps"] = of.bandwidth ? Json(*of.bandwidth / 1_GBps) : Json(nullptr);
  json["ideal_s"] = of.ideal ? Json(of.ideal->base()) : Json(nullptr);
  json["efficiency"] = or_null(of.efficiency);
  json["wasted_s"] = of.wasted ? Json(of.wasted->base()) : Json(nullptr);
  return json;
}

Json range_json(const metrics::RangeRow& row, const metrics::RankTotals& totals) {
  const auto mean = [&](std::int64_t time_ns) { return mean_of(time_ns, totals).base(); };
  return {{"name", text_or_null(row.name)},     {"count", row.count},
          {"work_s", mean(row.work_ns)},        {"own_work_s", mean(row.own_work_ns)},
          {"idle_before_s", mean(row.idle_ns)}, {"own_idle_before_s", mean(row.own_idle_ns)}};
}

Json signal_json(const metrics::SignalRow& row, const metrics::RankTotals& totals) {
  const auto mean = [&](std::int64_t time_ns) { return mean_of(time_ns, totals).base(); };
  Json json;
  json["signal"] = metrics::name_of(row.signal);
  json["what"] = text_or_null(row.what);
  json["count"] = row.time.count;
  json["idle_s"] = mean(row.idle_ns);
  json["copy_s"] = mean(row.copy_ns);
  json["after_s"] = mean(row.after_ns);
  return json;
}

void add_tables(Json& json, const DiagnoseAnswer& answer) {
  const std::int64_t whole_ns = answer.totals.time.total_ns();
  Json& collectives = json["collectives"] = Json::array();
  for (std::size_t i = 0; i < rows_shown(answer, answer.collectives.size()); ++i) {
    collectives.push_back(collective_row_json(answer.collectives[i], answer.totals));
  }
  Json& kernels = json["kernels"] = Json::array();
  for (std::size_t i = 0; i < rows_shown(answer, answer.kernels.size()); ++i) {
    const metrics::KernelRow& row = answer.kernels[i];
    Json one{{"name", safe(row.name)}, {"kind", timeline::name_of(row.kind)}};
    one.update(spread_json(row.time, answer.totals, whole_ns));
    kernels.push_back(std::move(one));
  }
  Json& operators = json["operators"] = Json::array();
  for (std::size_t i = 0; i < rows_shown(answer, answer.operators.size()); ++i) {
    const metrics::OperatorRow& row = answer.operators[i];
    Json one{{"name", safe(row.name)},
             {"category", text_or_null(row.category)},
             {"module", text_or_null(row.module)},
             {"kernels", row.kernels}};
    one.update(spread_json(row.time, answer.totals, whole_ns));
    one["flops"] = row.stated_flops > 0 ? Json(row.flops.value()) : Json(nullptr);
    one["bytes"] = row.stated_bytes > 0 ? Json(row.bytes.value()) : Json(nullptr);
    if (i < answer.rooflines.size()) {
      one.update(roofline_json(answer.rooflines[i]));
    }
    operators.push_back(std::move(one));
  }
  Json& signals = json["host_signals"] = Json::array();
  for (std::size_t i = 0; i < rows_shown(answer, answer.signals.size()); ++i) {
    signals.push_back(signal_json(answer.signals[i], answer.totals));
  }
  Json& ranges = json["ranges"] = Json::array();
  for (std::size_t i = 0; i < rows_shown(answer, answer.ranges.size()); ++i) {
    ranges.push_back(range_json(answer.ranges[i], answer.totals));
  }
}

}  // namespace

Json unread_json(const std::vector<DiagnosedLoss>& unread) {
  Json list = Json::array();
  for (const DiagnosedLoss& loss : unread) {
    list.push_back(
        {{"file", text_or_null(loss.file)}, {"what", safe(loss.what)}, {"count", loss.count}});
  }
  return list;
}

std::string diagnose_json(const DiagnoseAnswer& answer) {
  Json json = document("diagnose", answer.provenance);
  Json& files = json["files"] = Json::array();
  for (const DiagnosedFile& file : answer.files) {
    Json ranks = Json::array();
    for (const RankId rank : file.ranks) {
      ranks.push_back(rank.value);
    }
    files.push_back({{"name", safe(file.name)},
                     {"recorder", recorder_word(file.recorder)},
                     {"bytes", file.bytes.base()},
                     {"ranks", std::move(ranks)}});
  }
  json["ranks"] = answer.ranks.size();
  json["job_ranks"] = or_null(answer.world);
  json["is_whole_job"] = or_null(is_whole_job(answer));
  json["steps"] = answer.totals.steps;
  add_totals(json, answer.totals);
  Json& ranks = json["per_rank"] = Json::array();
  for (const DiagnosedRank& rank : answer.ranks) {
    ranks.push_back(diagnosed_rank_json(rank));
  }
  add_findings(json, answer);
  json["prediction"] =
      answer.findings && answer.findings->laid ? laid_json(*answer.findings->laid) : Json();
  json["fabric"] =
      answer.findings && answer.findings->fabric ? fabric_json(*answer.findings->fabric) : Json();
  add_tables(json, answer);
  json["kpis"] = kpis_json(answer);
  json["unread"] = unread_json(answer.unread);
  json["assumed"] = to_json(answer.assumed);
  return dumped(json);
}

}  // namespace sextant::explain
