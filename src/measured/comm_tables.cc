// Communication tables: collectives, expert all-to-all, efficiencies.
#include <fmt/format.h>

#include "base/text.h"
#include "measured/row_tools.h"

namespace sextant::measured {

namespace {

// The text after a word and blanks, up to the next ';' or ','.
std::string_view after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = text.substr(at + word.size());
  return trimmed(rest.substr(0, rest.find_first_of(";,")));
}

CollectiveLibrary library_of(std::string_view version, std::string_view notes) {
  const std::string text = to_lower(version);
  if (contains(notes, "XLA")) {
    return CollectiveLibrary::kXla;
  }
  if (contains(text, "rccl")) {
    return CollectiveLibrary::kRccl;
  }
  if (contains(text, "oneccl")) {
    return CollectiveLibrary::kOneCcl;
  }
  if (contains(text, "gloo") || contains(notes, "backend gloo")) {
    return CollectiveLibrary::kGloo;
  }
  // A bare version number is NCCL's: the other libraries are named.
  return text.empty() ? CollectiveLibrary::kUnknown : CollectiveLibrary::kNccl;
}

ForcedAlgorithm forced_algorithm(std::string_view notes) {
  const std::string text = to_lower(notes);
  if (contains(text, "nccl_algo=tree")) {
    return ForcedAlgorithm::kTree;
  }
  if (contains(text, "nccl_algo=ring")) {
    return ForcedAlgorithm::kRing;
  }
  return contains(text, "nvls disabled") ? ForcedAlgorithm::kNoNvls : ForcedAlgorithm::kNone;
}

// "2 group(s) of 4 run at once" → 2.
std::int64_t concurrent_groups(std::string_view notes) {
  const std::size_t at = notes.find(" group(s) of ");
  if (at == std::string_view::npos) {
    return 1;
  }
  std::size_t start = at;
  while (start > 0 && notes[start - 1] >= '0' && notes[start - 1] <= '9') {
    --start;
  }
  const auto groups = to_integer(notes.substr(start, at - start));
  return groups && *groups > 0 ? *groups : 1;
}

void describe_notes(std::string_view notes, CollectiveSubject& subject) {
  subject.dtype = std::string(after(notes, "dtype "));
  subject.forced = forced_algorithm(notes);
  subject.framework_timer = contains(notes, "PyTorch") || contains(notes, "XLA profiler");
  subject.healthy = notes.substr(0, 8) != "DEGRADED" && notes.substr(0, 5) != "NOISY";
  subject.concurrent_groups = concurrent_groups(notes);
}

// Words by which a source doubts its own figures.
bool says_slow(std::string_view text) {
  return contains(text, "underperforming") || contains(text, "anomalously slow") ||
         contains(text, "reported as slow") || contains(text, "not stated, slow");
}

void note_device(Row& row, const std::optional<std::string>& device, std::string_view hardware) {
  if (device) {
    row.assumed.push_back({"device", *device, fmt::format("from \"{}\"", printable(hardware)), {}});
  } else if (!row.refusal) {
    row.refusal = fmt::format("device not stated: \"{}\"", printable(hardware));
  }
}

Result<Row> collective_row(Cells cells, const TableContext& context) {
  Row row = new_row(cells, context, TableKind::kCollectives);
  CollectiveSubject subject;
  subject.hardware = std::string(cells.text("hardware"));
  subject.devices_per_node = cells.count("gpus_per_node");
  subject.nodes = cells.count("nodes");
  subject.ranks = cells.required_count("ranks");
  const auto bytes = cells.count("bytes");
  subject.bytes = Bytes(static_cast<double>(bytes.value_or(0)));
  subject.in_place = cells.flag("in_place");
  subject.links =
      read_links(cells.text("intra_link"), cells.text("inter_link"), subject.devices_per_node);
  subject.library_version = std::string(cells.text("nccl_version"));
  const std::string_view notes = cells.text("notes");
  subject.library = library_of(subject.library_version, notes);
  describe_notes(notes, subject);
  if (says_slow(notes) || says_slow(cells.text("inter_link"))) {
    row.refusal = "its source says that this system or this run is slower than it should be";
  }
  take_quantity(cells, row, {"time_us", "busbw_GBps", "algbw_GBps"});
  if (!bytes) {
    row.refusal = "bytes not stated";
  }
  SEXTANT_CHECK_OK(cells.ok());
  SEXTANT_TRY(subject.op,
              describe::parse_word<CollectiveOp>(kCollectiveOpWords, cells.text("collective"),
                                                 "collective", cells.where()));
  SEXTANT_TRY(subject.device, context.hardware.device_in_text(subject.hardware));
  note_device(row, subject.device, subject.hardware);
  row.subject = std::move(subject);
  return row;
}

// "top-4 groups" → 4.
std::optional<std::int64_t> topk_groups(std::string_view notes) {
  const std::size_t at = notes.find("top-");
  if (at == std::string_view::npos || !contains(notes, " groups")) {
    return std::nullopt;
  }
  const std::string_view rest = notes.substr(at + 4);
  return to_integer(rest.substr(0, rest.find(' ')));
}

Result<Row> ep_row(Cells cells, const TableContext& context) {
  Row row = new_row(cells, context, TableKind::kEpAllToAll);
  EpAllToAllSubject subject;
  subject.hardware = std::string(cells.text("hardware"));
  subject.library = std::string(cells.text("library"));
  subject.mode = std::string(cells.text("mode"));
  subject.nodes = cells.required_count("nodes");
  subject.ep = cells.required_count("ep_size");
  subject.tokens_per_rank = cells.count("tokens_per_rank");
  subject.hidden = cells.count("hidden");
  subject.topk = cells.count("topk");
  subject.experts = cells.count("num_experts");
  subject.dtype = std::string(cells.text("dtype"));
  subject.sms = cells.count("sms");
  subject.bandwidth_kind = std::string(cells.text("bandwidth_kind"));
  const std::string_view notes = cells.text("notes");
  subject.topk_groups = topk_groups(notes);
  subject.with_notify = contains(notes, "notify");
  take_quantity(cells, row, {"time_us", "bandwidth_GBps"});
  SEXTANT_CHECK_OK(cells.ok());
  SEXTANT_TRY(subject.op, describe::parse_word<EpOperation>(kEpOperationWords, cells.text("op"),
                                                            "op", cells.where()));
  // These tables write links into the hardware text; such nodes have one NIC a device.
  subject.links = read_links(subject.hardware, subject.hardware, 1);
  SEXTANT_TRY(subject.device, context.hardware.device_in_text(subject.hardware));
  note_device(row, subject.device, subject.hardware);
  if (!row.refusal && !(subject.tokens_per_rank && subject.hidden && subject.topk)) {
    row.refusal = "message shape not stated: tokens_per_rank, hidden, topk";
  }
  row.subject = std::move(subject);
  return row;
}

Result<Row> efficiency_row(Cells cells, const TableContext& context) {
  Row row = new_row(cells, context, TableKind::kCommEfficiency);
  CommEfficiencySubject subject;
  subject.table = std::string(cells.text("table"));
  subject.bytes = Bytes(static_cast<double>(cells.required_count("bytes")));
  subject.nodes = cells.required_count("nodes");
  subject.devices = cells.required_count("gpus");
  take_quantity(cells, row, {"efficiency_of_theoretical_busbw"});
  SEXTANT_CHECK_OK(cells.ok());
  row.assumed.push_back({"device", "unknown", "device and links are not stated", {}});
  row.subject = std::move(subject);
  return row;
}

}  // namespace

Result<std::vector<Row>> read_collectives(const CsvTable& table, TableContext& context) {
  return read_rows(table, context, collective_row);
}

Result<std::vector<Row>> read_ep_all_to_all(const CsvTable& table, TableContext& context) {
  return read_rows(table, context, ep_row);
}

Result<std::vector<Row>> read_comm_efficiency(const CsvTable& table, TableContext& context) {
  return read_rows(table, context, efficiency_row);
}

}  // namespace sextant::measured
