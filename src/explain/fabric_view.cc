#include "explain/fabric_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"

namespace sextant::explain {
namespace {

std::string op_text(CollectiveOp op) {
  const auto* const word =
      std::ranges::find(kCollectiveOpWords, op, &std::pair<CollectiveOp, std::string_view>::first);
  return std::string(word->second);
}

}  // namespace

Table fabric_table(const diagnose::FabricView& fabric, std::size_t most) {
  Table table{{{"against the fabric"},
               {"ranks", true},
               {"domains", true},
               {"size", true},
               {"count", true},
               {"reached", true},
               {"expected", true},
               {"at least", true},
               {""}},
              {}};
  for (const diagnose::FabricRow& row : fabric.rows) {
    if (table.rows.size() == most) {
      break;
    }
    table.rows.push_back({op_text(row.op), std::to_string(row.ranks), std::to_string(row.domains),
                          to_text(row.bytes), std::to_string(row.count),
                          to_text(row.achieved_bus()), to_text(row.expected_bus()),
                          to_text(row.least_bus()), row.falls_short() ? "falls short" : ""});
  }
  return table;
}

std::string fabric_left_out(const diagnose::FabricView& fabric) {
  return fabric.left_out == 0 ? std::string()
                              : fmt::format("{} collectives are not held against the fabric: {}",
                                            fabric.left_out, fabric.reason);
}

Json fabric_json(const diagnose::FabricView& fabric) {
  Json json;
  json["cluster"] = printable(fabric.cluster);
  Json& rows = json["rows"] = Json::array();
  for (const diagnose::FabricRow& row : fabric.rows) {
    rows.push_back({{"collective", op_text(row.op)},
                    {"ranks", row.ranks},
                    {"domains", row.domains},
                    {"bytes", row.bytes.base()},
                    {"count", row.count},
                    {"is_matched", row.is_matched},
                    {"transfer_s", row.transfer.base()},
                    {"expected_s", row.expected.base()},
                    {"low_s", (row.expected / row.spread).base()},
                    {"high_s", (row.expected * row.spread).base()},
                    {"bus_bandwidth_GBps", row.achieved_bus() / 1_GBps},
                    {"expected_bus_bandwidth_GBps", row.expected_bus() / 1_GBps},
                    {"falls_short", row.falls_short()}});
  }
  json["left_out"] = fabric.left_out;
  json["left_out_because"] = fabric.reason.empty() ? Json() : Json(printable(fabric.reason));
  return json;
}

}  // namespace sextant::explain
