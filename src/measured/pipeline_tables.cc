// Pipelines: per-stage times and whole action tables.
//
// An action table holds no time of its own. Its makespan at unit costs (pipeline_actions.h) is the
// one number it implies; idle slots are not waited for, as they follow from the dependencies.
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "measured/pipeline_actions.h"
#include "measured/row_tools.h"

namespace sextant::measured {

namespace {

using describe::Schedule;

constexpr std::array<std::pair<std::string_view, Schedule>, 7> kNames{
    {{"ScheduleGPipe", Schedule::kGpipe},
     {"Schedule1F1B", Schedule::k1f1b},
     {"ScheduleInterleaved1F1B", Schedule::kInterleaved1f1b},
     {"ScheduleLoopedBFS", Schedule::kLoopedBfs},
     {"ScheduleInterleavedZeroBubble", Schedule::kInterleavedZeroBubble},
     {"ScheduleZBVZeroBubble", Schedule::kZbv},
     {"ScheduleDualPipeV", Schedule::kDualPipeV}}};

// The number after "key" up to the next separator: number_of("x_dp1_pp8_tp1", "_pp") = 8.
std::optional<std::int64_t> number_of(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(at + key.size());
  return to_integer(rest.substr(0, rest.find_first_not_of("0123456789")));
}

std::optional<std::vector<Seconds>> stage_times(std::string_view text) {
  std::vector<Seconds> times;
  for (const std::string_view part : split(text, ' ')) {
    if (trimmed(part).empty()) {
      continue;
    }
    const auto value = to_double(trimmed(part));
    if (!value || *value < 0.0) {
      return std::nullopt;
    }
    times.push_back(*value * 1_us);
  }
  return times;
}

std::string column_beginning(const CsvTable& table, std::string_view prefix) {
  for (const std::string_view column : table.header()) {
    if (column.substr(0, prefix.size()) == prefix) {
      return std::string(column);
    }
  }
  return {};
}

Result<Row> stage_row(const CsvTable& table, Cells cells, const TableContext& context) {
  Row row = new_row(cells, context, TableKind::kStageTimes);
  const std::string forward = column_beginning(table, "per_stage_fwd_us(");
  const std::string backward = column_beginning(table, "per_stage_bwd_us(");
  StageTimesSubject subject;
  subject.name = std::string(cells.text("case"));
  subject.method = std::string(cells.text("method"));
  subject.seq = cells.required_count("seq");
  subject.vocab = cells.required_count("vocab");
  subject.dp = number_of(subject.name, "_dp").value_or(1);
  subject.tp = number_of(subject.name, "_tp").value_or(1);
  const auto forward_times = stage_times(cells.text(forward));
  const auto backward_times = stage_times(cells.text(backward));
  if (!forward_times || forward_times->empty()) {
    cells.reject(forward, "not a list of times", "numbers of at least 0 with blanks between");
  }
  if (!backward_times || (forward_times && backward_times->size() != forward_times->size())) {
    cells.reject(backward, "not as many times as forward", "numbers of at least 0");
  }
  take_quantity(cells, row, {"iteration_ms"});
  SEXTANT_CHECK_OK(cells.ok());
  subject.forward = forward_times.value_or(std::vector<Seconds>());
  subject.backward = backward_times.value_or(std::vector<Seconds>());
  subject.pp = static_cast<std::int64_t>(subject.forward.size());
  row.subject = std::move(subject);
  return row;
}

std::optional<describe::Schedule> schedule_named(std::string_view name) {
  for (const auto& [known, schedule] : kNames) {
    if (name == known) {
      return schedule;
    }
  }
  return std::nullopt;
}

Result<std::vector<PipelineSlot>> rank_slots(const describe::JsonValue& list) {
  std::vector<PipelineSlot> slots;
  for (const describe::JsonValue& element : list.elements()) {
    SEXTANT_TRY(const std::string text, element.text());
    SEXTANT_TRY(PipelineSlot slot, parse_pipeline_slot(text, element.where()));
    slots.push_back(std::move(slot));
  }
  return slots;
}

Result<Row> schedule_row(const describe::JsonValue& document, const std::string& key,
                         const TableContext& context) {
  Row row;
  row.id = fmt::format("{}#{}", context.path.filename().string(), key);
  row.source = context.source;
  row.table = TableKind::kPipelineSchedules;
  row.quantity = "makespan";
  PipelineScheduleSubject subject;
  subject.name = key.substr(0, key.find('|'));
  subject.schedule = schedule_named(subject.name);
  subject.pp = number_of(key, "|pp=").value_or(0);
  subject.vpp = number_of(key, "|v=").value_or(1);
  subject.microbatches = number_of(key, "|mb=").value_or(0);
  const auto ranks = document.member(key);
  if (!ranks || subject.pp < 1 || subject.microbatches < 1) {
    return invalid(fmt::format("\"{}\" is no schedule", printable(key)), document.where(),
                   "NAME|pp=P|v=V|mb=M with P, V, M of at least 1");
  }
  for (std::int64_t rank = 0; rank < static_cast<std::int64_t>(ranks->keys().size()); ++rank) {
    const auto list = ranks->member(fmt::format("{}", rank));
    if (!list) {
      return invalid(fmt::format("rank {} of \"{}\" is missing", rank, printable(key)),
                     document.where());
    }
    SEXTANT_TRY(std::vector<PipelineSlot> slots, rank_slots(*list));
    subject.ranks.push_back(std::move(slots));
  }
  SEXTANT_TRY(row.measured, pipeline_makespan(subject.ranks, key, document.where()));
  row.assumed.push_back({"costs",
                         "units",
                         "F = I = W = 1, B = 2, an overlapped pair the longer of its "
                         "two, transfers free",
                         {}});
  row.subject = std::move(subject);
  return row;
}

}  // namespace

Result<std::vector<Row>> read_stage_times(const CsvTable& table, TableContext& context) {
  return read_rows(table, context, [&table](Cells cells, const TableContext& where) {
    return stage_row(table, std::move(cells), where);
  });
}

Result<std::vector<Row>> read_pipeline_schedules(const describe::JsonValue& document,
                                                 TableContext& context) {
  std::vector<Row> rows;
  for (const std::string& key : document.keys()) {
    SEXTANT_TRY(Row row, schedule_row(document, key, context));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace sextant::measured
