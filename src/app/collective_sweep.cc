#include "app/collective_sweep.h"

#include <fmt/format.h>

#include "base/integers.h"
#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/layout/sweep.h"

namespace sextant::app {
namespace {

constexpr std::string_view kWhere = "‹sweep›";
constexpr std::int64_t kMostClusterRanks = 10'000'000;  // as many as a cluster may have
constexpr Bytes kLargestMessage = 1024.0 * 1024.0 * 1_GiB;

std::vector<std::string> sizes() {
  std::vector<std::string> values;
  for (Bytes size = 1_KiB; size <= 16_GiB; size *= 2.0) {
    values.push_back(to_text(size));
  }
  return values;
}

// 1, 2, 4, … and then `most` itself.
std::vector<std::string> doublings(std::int64_t first, std::int64_t most) {
  std::vector<std::string> values;
  for (std::int64_t value = first; value < most; value *= 2) {
    values.push_back(std::to_string(value));
  }
  values.push_back(std::to_string(most));
  return values;
}

// Files whose names begin with "any" are what fits start from.
std::vector<std::string> known_links(const describe::DataStore& data) {
  std::vector<std::string> values;
  for (const std::string& id : data.list("comm/links", "toml")) {
    if (!id.starts_with("any")) {
      values.push_back(id);
    }
  }
  return values;
}

std::vector<std::string> default_collective_values(CollectiveFactor factor,
                                                   const machine::CollectiveQuestion& base,
                                                   const describe::DataStore& data) {
  switch (factor) {
    case CollectiveFactor::kBytes:
      return sizes();
    case CollectiveFactor::kRanks:
      return doublings(2, machine::most_ranks(base.cluster, base.stride));
    case CollectiveFactor::kNodes:
      return doublings(1, base.cluster.nodes());
    case CollectiveFactor::kCollective:
      return {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "sendrecv", "broadcast"};
    case CollectiveFactor::kLink:
      return known_links(data);
    case CollectiveFactor::kNic:
      break;
  }
  return {"100 Gbit/s", "200 Gbit/s", "400 Gbit/s", "800 Gbit/s"};
}

Result<describe::LinkFacts> parse_links(std::string_view word, const describe::DataStore& data) {
  const std::vector<std::string> known = known_links(data);
  for (const std::string& id : known) {
    if (id == to_lower(word)) {
      return describe::load_link_facts(id, data);
    }
  }
  return describe::unknown_word(word, known, "link", kWhere);
}

Result<void> set_nic(std::string_view word, describe::Cluster& cluster) {
  SEXTANT_TRY(const BytesPerSecond rate, parse_bytes_per_second(word, kWhere));
  if (rate <= BytesPerSecond()) {
    return invalid("a NIC without a rate", std::string(kWhere), "above 0 Gbit/s");
  }
  cluster.system.nic_rate =
      describe::Sourced<BytesPerSecond>{rate, describe::SourceKind::kAssumed, "‹sweep› nic"};
  if (!cluster.system.nics_per_node) {
    cluster.system.nics_per_node = describe::Sourced<std::int64_t>{
        cluster.devices_per_node(), describe::SourceKind::kAssumed, "one NIC a device"};
  }
  return {};
}

Result<SweptQuestion> swept_question(CollectiveFactor factor, std::string_view word,
                                     const machine::CollectiveQuestion& base,
                                     const describe::DataStore& data) {
  SweptQuestion point{std::string(word), base};
  machine::CollectiveQuestion& question = point.question;
  switch (factor) {
    case CollectiveFactor::kBytes: {
      SEXTANT_TRY(question.bytes, parse_message(word, kWhere));
      point.value = to_text(question.bytes);
      break;
    }
    case CollectiveFactor::kRanks: {
      SEXTANT_TRY(question.ranks, parse_number(word, kWhere));
      break;
    }
    case CollectiveFactor::kNodes: {
      SEXTANT_TRY(const std::int64_t nodes, parse_number(word, kWhere));
      const std::int64_t devices = saturating_product({nodes, base.cluster.devices_per_node()});
      // The last node may not be full.
      const bool all = nodes == base.cluster.nodes();
      question.ranks = ((all ? base.cluster.devices : devices) - 1) / base.stride + 1;
      break;
    }
    case CollectiveFactor::kCollective: {
      SEXTANT_TRY(question.op, parse_collective(word, kWhere));
      point.value = explain::collective_word(question.op);
      break;
    }
    case CollectiveFactor::kLink: {
      SEXTANT_TRY(question.links, parse_links(word, data));
      break;
    }
    case CollectiveFactor::kNic:
      SEXTANT_CHECK_OK(set_nic(word, question.cluster));
      break;
  }
  return point;
}

}  // namespace

Result<Bytes> parse_message(std::string_view text, std::string_view where) {
  SEXTANT_TRY(const Bytes bytes, parse_bytes(text, where));
  if (bytes < 1_B || bytes > kLargestMessage) {
    return invalid(fmt::format("'{}' is not the size of a message", printable(text)),
                   std::string(where), fmt::format("1 B to {}", to_text(kLargestMessage)));
  }
  return bytes;
}

Result<std::int64_t> parse_number(std::string_view text, std::string_view where) {
  const auto number = to_integer(text);
  if (!number || *number < 1 || *number > kMostClusterRanks) {
    return invalid(fmt::format("'{}' is not a count", printable(text)), std::string(where),
                   fmt::format("whole numbers from 1 to {}", kMostClusterRanks));
  }
  return *number;
}

Result<describe::CollectiveOp> parse_collective(std::string_view text, std::string_view where) {
  return describe::parse_word<describe::CollectiveOp>(describe::kCollectiveOpWords, text,
                                                      "collective", where);
}

Result<CollectiveFactor> parse_collective_factor(std::string_view text) {
  return describe::parse_word<CollectiveFactor>(kCollectiveFactorWords,
                                                text.substr(0, text.find('=')), "factor", kWhere);
}

Result<CollectiveSweep> parse_collective_sweep(std::string_view text,
                                               const machine::CollectiveQuestion& base,
                                               const describe::DataStore& data) {
  CollectiveSweep sweep;
  SEXTANT_TRY(sweep.factor, parse_collective_factor(text));
  std::vector<std::string> words;
  if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
    for (const std::string_view word : split(text.substr(equals + 1), ',')) {
      words.emplace_back(trimmed(word));
    }
  } else {
    words = default_collective_values(sweep.factor, base, data);
  }
  if (words.size() > describe::kMostSweepValues) {
    return invalid("the list is too long", std::string(kWhere),
                   fmt::format("{} values", describe::kMostSweepValues));
  }
  for (const std::string& word : words) {
    SEXTANT_TRY(SweptQuestion point, swept_question(sweep.factor, word, base, data));
    sweep.points.push_back(std::move(point));
  }
  return sweep;
}

}  // namespace sextant::app
