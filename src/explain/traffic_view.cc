#include "explain/traffic_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "explain/json.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using sextant::to_text;
using workload::Collective;
using workload::GroupKind;
using workload::GroupTraffic;
using workload::Reach;

// Stages that issue the same message equally often.
struct SharedMessage {
  Collective message;
  std::vector<std::int64_t> stages;
};

// Equal but for how often and where.
bool same_kind(const Collective& a, Collective b) {
  b.count = a.count;
  b.stage = a.stage;
  return a == b;
}

// A stage's messages of one kind (of several kinds of layers, say) as one.
std::vector<Collective> summed(const std::vector<Collective>& collectives) {
  std::vector<Collective> rows;
  std::size_t stage_begin = 0;  // of the stage at hand
  for (const Collective& message : collectives) {
    if (!rows.empty() && rows.back().stage != message.stage) {
      stage_begin = rows.size();
    }
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(stage_begin);
    const auto same = std::find_if(begin, rows.end(),
                                   [&](const Collective& row) { return same_kind(row, message); });
    if (same == rows.end()) {
      rows.push_back(message);
    } else {
      same->count += message.count;
    }
  }
  return rows;
}

std::vector<SharedMessage> shared(const std::vector<Collective>& collectives) {
  std::vector<SharedMessage> rows;
  for (const Collective& message : summed(collectives)) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const SharedMessage& row) {
      return row.message.count == message.count && same_kind(row.message, message);
    });
    if (same == rows.end()) {
      rows.push_back({message, {message.stage}});
    } else {
      same->stages.push_back(message.stage);
    }
  }
  return rows;
}

// "0", "0-3", "1-2, 5".
std::string ranges(const std::vector<std::int64_t>& stages) {
  std::string text;
  for (std::size_t i = 0; i < stages.size();) {
    std::size_t last = i;
    while (last + 1 < stages.size() && stages[last + 1] == stages[last] + 1) {
      ++last;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ", ", stages[i]);
    text += last > i ? fmt::format("-{}", stages[last]) : "";
    i = last + 1;
  }
  return text;
}

std::string_view group_word(GroupKind group) {
  return describe::word_of<GroupKind>(workload::kGroupKindWords, group);
}
std::string_view op_word(describe::CollectiveOp op) {
  return describe::word_of<describe::CollectiveOp>(describe::kCollectiveOpWords, op);
}
std::string_view phase_word(workload::Phase phase) {
  return describe::word_of<workload::Phase>(workload::kPhaseWords, phase);
}
std::string_view hides_word(workload::Hides hides) {
  return describe::word_of<workload::Hides>(workload::kHidesWords, hides);
}

Table messages_table(const TrafficAnswer& answer) {
  Table table{{{"axis"},
               {"operation"},
               {"what"},
               {"phase"},
               {"ranks", true},
               {"stages"},
               {"calls a rank", true},
               {"tensor", true},
               {"a rank sends", true},
               {"dtype"},
               {"hidden behind"}},
              {}};
  for (const SharedMessage& row : shared(answer.collectives)) {
    const Collective& message = row.message;
    const bool all = static_cast<std::int64_t>(row.stages.size()) == answer.stages;
    table.rows.push_back(
        {std::string(group_word(message.group)), std::string(op_word(message.op)),
         std::string(message.what), std::string(phase_word(message.phase)),
         with_thousands(message.group_size), all ? "all" : ranges(row.stages),
         with_thousands(message.count),
         to_text(Bytes(static_cast<double>(std::max(message.input_bytes, message.output_bytes)))),
         to_text(message.wire_bytes()), std::string(message.dtype),
         message.hides == workload::Hides::kNothing ? "-"
                                                    : std::string(hides_word(message.hides))});
  }
  return table;
}

Table totals_table(const TrafficAnswer& answer) {
  Table table{{{"axis"},
               {"calls", true},
               {"payload", true},
               {"on the wire", true},
               {"share", true},
               {"in a node", true},
               {"in a domain", true},
               {"network", true}},
              {}};
  const Bytes all = answer.totals.all().wire;
  for (const auto& [kind, name] : workload::kGroupKindWords) {
    const GroupTraffic& group = answer.totals.at(kind);
    if (group.calls == 0.0) {
      continue;
    }
    const Reach& reach = answer.reach[static_cast<std::size_t>(kind)];
    table.rows.push_back(
        {std::string(name), fmt::format("{:.0f}", group.calls), to_text(group.payload),
         to_text(group.wire), fmt::format("{:.2f} %", 100.0 * (group.wire / all)),
         to_text(reach.same_node), to_text(reach.same_domain), to_text(reach.network)});
  }
  return table;
}

Json message_json(const SharedMessage& row) {
  const Collective& message = row.message;
  Json json;
  json["what"] = message.what;
  json["operation"] = op_word(message.op);
  json["group"] = group_word(message.group);
  json["group_size"] = message.group_size;
  json["dtype"] = message.dtype;
  json["input_bytes"] = message.input_bytes;
  json["output_bytes"] = message.output_bytes;
  json["count"] = message.count;
  json["phase"] = phase_word(message.phase);
  json["hidden_behind"] =
      message.hides == workload::Hides::kNothing ? Json(nullptr) : Json(hides_word(message.hides));
  json["wire_bytes"] = message.wire_bytes().base();
  json["stages"] = row.stages;
  return json;
}

std::string traffic_json_text(const TrafficAnswer& answer) {
  Json json = document("traffic", answer.provenance);
  json["legal"] = true;
  json["layout"] = describe::to_text(answer.job.layout);
  json["framework"] =
      describe::word_of<describe::Framework>(describe::kFrameworkWords, answer.job.framework);
  json["ranks"] = answer.job.cluster.devices;
  json["stages"] = answer.stages;
  Json& messages = json["collectives"] = Json::array();
  for (const SharedMessage& row : shared(answer.collectives)) {
    messages.push_back(message_json(row));
  }
  Json& totals = json["totals"] = Json::array();
  for (const auto& [kind, name] : workload::kGroupKindWords) {
    const GroupTraffic& group = answer.totals.at(kind);
    const Reach& reach = answer.reach[static_cast<std::size_t>(kind)];
    if (group.calls > 0.0) {
      totals.push_back({{"group", name},
                        {"calls", group.calls},
                        {"payload_bytes", group.payload.base()},
                        {"wire_bytes", group.wire.base()},
                        {"same_node_bytes", reach.same_node.base()},
                        {"same_domain_bytes", reach.same_domain.base()},
                        {"network_bytes", reach.network.base()}});
    }
  }
  json["assumed"] = to_json(answer.job.assumed);
  return dumped(json);
}

}  // namespace

std::string to_text(const TrafficAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return traffic_json_text(answer);
  }
  const Table messages = messages_table(answer);
  if (style.format == Format::kCsv) {
    return to_text(messages, style);
  }
  std::string text = bold("messages of a step, on one rank of each stage", style) + "\n";
  text += to_text(messages, style);
  const GroupTraffic all = answer.totals.all();
  text += fmt::format(
      "\n{}\n", bold(fmt::format("all {} ranks: {} on the wire",
                                 with_thousands(answer.job.cluster.devices), to_text(all.wire)),
                     style));
  text += to_text(totals_table(answer), style);
  for (const describe::Assumption& assumed : answer.job.assumed) {
    text += dim("assumed: " + describe::to_text(assumed), style) + "\n";
  }
  return text;
}

std::string_view matrix_csv_header() {
  return "from,to,axis,bytes\n";
}

std::string matrix_csv(std::int64_t from, std::span<const workload::MatrixEntry> entries) {
  std::string text;
  for (const workload::MatrixEntry& entry : entries) {
    text += fmt::format("{},{},{},{:.0f}\n", from, entry.to, group_word(entry.group),
                        entry.bytes.base());
  }
  return text;
}

}  // namespace sextant::explain
