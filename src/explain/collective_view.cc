#include "explain/collective_view.h"

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/collective_json.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

std::string value_text(const machine::CollectiveConstant& constant) {
  switch (constant.unit) {
    case describe::CommUnit::kTime:
      return to_text(Seconds(constant.value.value));
    case describe::CommUnit::kRate:
      return to_text(BytesPerSecond(constant.value.value));
    case describe::CommUnit::kRatio:
      break;
  }
  return fmt::format("{:.4g}", constant.value.value);
}

std::string value_key(describe::CommUnit unit) {
  switch (unit) {
    case describe::CommUnit::kTime:
      return "value_s";
    case describe::CommUnit::kRate:
      return "value_Bps";
    case describe::CommUnit::kRatio:
      break;
  }
  return "value_ratio";
}

std::string collective_json_text(const CollectiveAnswer& answer) {
  Json json = document("estimate-collective", answer.provenance);
  json["cluster"] = answer.cluster;
  json.update(collective_json(answer.estimate));
  Json& constants = json["constants"] = Json::array();
  for (const machine::CollectiveConstant& constant : answer.constants) {
    Json row;
    row["file"] = constant.file;
    row["name"] = constant.name;
    row.update(sourced(constant.value, value_key(constant.unit), constant.value.value));
    constants.push_back(std::move(row));
  }
  json["assumed"] = to_json(answer.assumed);
  return dumped(json);
}

Table way_terms_table(const machine::CollectiveWay& way) {
  Table table{{{"term"}, {"time", true}, {"share", true}}, {}};
  const Seconds total = way.total();
  const auto add = [&](const char* name, Seconds time) {
    table.rows.push_back({name, to_text(time), fmt::format("{:.1f} %", 100.0 * (time / total))});
  };
  add("latency", way.latency);
  add("transfer", way.transfer);
  add("fill", way.fill);
  return table;
}

Table ways_table(const machine::CollectiveEstimate& estimate) {
  Table table{{{"algorithm"},
               {"protocol"},
               {"time", true},
               {"latency", true},
               {"transfer", true},
               {"fill", true},
               {"limit"},
               {"bus bandwidth at most", true}},
              {}};
  for (const machine::CollectiveWay& way : estimate.ways) {
    table.rows.push_back({way.algorithm, way.protocol.empty() ? "-" : way.protocol,
                          to_text(way.total()), to_text(way.latency), to_text(way.transfer),
                          to_text(way.fill), way.limit, to_text(way.limit_rate)});
  }
  return table;
}

Table constants_table(const CollectiveAnswer& answer) {
  Table table{{{"file"}, {"constant"}, {"value", true}, {"kind"}, {"source"}}, {}};
  for (const machine::CollectiveConstant& constant : answer.constants) {
    table.rows.push_back({constant.file, constant.name, value_text(constant),
                          std::string(describe::word_of<describe::SourceKind>(
                              describe::kSourceKindWords, constant.value.kind)),
                          constant.value.source});
  }
  return table;
}

// " (4 ms to 6 ms)", or nothing.
template <typename T>
std::string range_text(const std::optional<std::pair<T, T>>& range) {
  return range ? fmt::format(" ({} to {})", to_text(range->first), to_text(range->second))
               : std::string();
}

std::string headline(const CollectiveAnswer& answer, const Style& style) {
  const machine::CollectiveEstimate& estimate = answer.estimate;
  std::string text = fmt::format("{} of {} over {} of {}: ", collective_word(estimate.op),
                                 to_text(estimate.bytes), group_text(estimate), answer.cluster);
  if (estimate.ways.empty() || !estimate.bus || !estimate.algorithm) {
    return text + "nothing is sent\n";
  }
  const machine::CollectiveWay& way = estimate.ways.front();
  text +=
      fmt::format("{}{}\n", bold(to_text(estimate.time), style), range_text(time_range(estimate)));
  text += fmt::format("bus bandwidth {}{}, algorithm bandwidth {}\n", to_text(*estimate.bus),
                      range_text(bus_range(estimate)), to_text(*estimate.algorithm));
  text += fmt::format("{}{}{}, limited by {} at {} of bus bandwidth\n", way.algorithm,
                      way.protocol.empty() ? "" : ", ", way.protocol, way.limit,
                      to_text(way.limit_rate));
  return text;
}

std::string hierarchical_text(const cost::HierarchicalTerms& terms) {
  return fmt::format(
      "in three parts, as a framework with a two-level mesh issues it: {} (reduce_scatter {}, "
      "all_reduce between domains {}, all_gather {})\n",
      to_text(terms.total()), to_text(terms.scatter), to_text(terms.across), to_text(terms.gather));
}

}  // namespace

std::string collective_word(describe::CollectiveOp op) {
  // The word of the command line; the table's first spelling is nccl-tests' "alltoall".
  return op == describe::CollectiveOp::kAllToAll
             ? "all_to_all"
             : std::string(
                   describe::word_of<describe::CollectiveOp>(describe::kCollectiveOpWords, op));
}

std::string group_text(const machine::CollectiveEstimate& estimate) {
  const cost::GroupShape& group = estimate.group;
  const std::string stride =
      estimate.stride > 1 ? fmt::format(", {} devices apart", estimate.stride) : std::string();
  return fmt::format("{} rank{} in {} domain{}{}", group.ranks, group.ranks == 1 ? "" : "s",
                     group.domains, group.domains == 1 ? "" : "s", stride);
}

std::optional<std::pair<Seconds, Seconds>> time_range(const machine::CollectiveEstimate& estimate) {
  if (!estimate.spread) {
    return std::nullopt;
  }
  return std::pair{estimate.time / *estimate.spread, estimate.time * *estimate.spread};
}

std::optional<std::pair<BytesPerSecond, BytesPerSecond>> bus_range(
    const machine::CollectiveEstimate& estimate) {
  if (!estimate.spread || !estimate.bus) {
    return std::nullopt;
  }
  return std::pair{*estimate.bus / *estimate.spread, *estimate.bus * *estimate.spread};
}

std::string to_text(const CollectiveAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return collective_json_text(answer);
  }
  const machine::CollectiveEstimate& estimate = answer.estimate;
  if (style.format == Format::kCsv) {
    return to_text(answer.show_constants ? constants_table(answer) : ways_table(estimate), style);
  }
  std::string text = headline(answer, style);
  if (!estimate.ways.empty()) {
    text += "\n" + to_text(way_terms_table(estimate.ways.front()), style);
    text += "\n" + to_text(ways_table(estimate), style);
  }
  if (estimate.hierarchical) {
    text += "\n" + hierarchical_text(*estimate.hierarchical);
  }
  if (answer.show_constants) {
    text += "\n" + to_text(constants_table(answer), style);
  }
  for (const describe::Assumption& assumed : answer.assumed) {
    text += dim("assumed: " + describe::to_text(assumed), style) + "\n";
  }
  return text;
}

}  // namespace sextant::explain
