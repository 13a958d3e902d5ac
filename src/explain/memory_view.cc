#include "explain/memory_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "explain/fitted.h"
#include "explain/json.h"
#include "explain/step_result.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using cost::MemoryItem;
using cost::MemoryItems;
using cost::MemoryMoment;
using cost::RankMemory;
using sextant::to_text;

std::string item_name(std::size_t index) {
  return std::string(cost::kMemoryItemWords[index].second);
}

std::string moment_name(MemoryMoment moment) {
  return std::string(describe::word_of<MemoryMoment>(cost::kMemoryMomentWords, moment));
}

// Items of a moment, largest first, zeros left out.
std::vector<std::size_t> by_size(const MemoryItems& items) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < items.bytes.size(); ++i) {
    if (items.bytes[i] > Bytes()) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return items.bytes[a] > items.bytes[b]; });
  return order;
}

std::string snake(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

Json rank_json(const RankMemory& rank) {
  Json json;
  json["pipeline_rank"] = rank.pipeline_rank;
  json["fullest_moment"] = moment_name(rank.fullest);
  json["allocated_bytes"] = rank.allocated.base();
  json["reserved_bytes"] = rank.reserved.base();
  json["device_bytes"] = rank.device.base();
  Json& items = json["items"] = Json::object();
  for (const std::size_t i : by_size(rank.peak())) {
    items[snake(item_name(i)) + "_bytes"] = rank.peak().bytes[i].base();
  }
  return json;
}

std::string memory_json_text(const MemoryAnswer& answer) {
  Json json = document("memory", answer.provenance);
  const step::MemoryEstimate& memory = answer.memory;
  json["fits"] = memory.fits();
  json["tight"] = memory.tight();
  json["fit_odds"] = memory.odds;
  json["available_bytes"] = memory.available.base();
  json["layout"] = describe::to_text(answer.job.layout);
  json["fullest_rank"] = memory.fullest.pipeline_rank;
  Json& ranks = json["ranks"] = Json::array();
  for (const RankMemory& rank : memory.ranks) {
    ranks.push_back(rank_json(rank));
  }
  json["missing_bytes"] =
      memory.rejection ? Json(memory.rejection->missing().base()) : Json(nullptr);
  Json& changes = json["fitting_changes"] = Json::array();
  for (const cost::FittingChange& change : memory.changes) {
    changes.push_back({{"change", change.change},
                       {"needed_bytes", change.needed.base()},
                       {"fit_odds", change.odds}});
  }
  json["assumed"] = to_json(answer.job.assumed);
  return dumped(json);
}

Table items_table(const RankMemory& rank) {
  Table table{{{"item"}, {"size", true}, {"share", true}}, {}};
  for (const std::size_t i : by_size(rank.peak())) {
    const Bytes bytes = rank.peak().bytes[i];
    table.rows.push_back(
        {item_name(i), to_text(bytes), fmt::format("{:.1f} %", 100.0 * (bytes / rank.allocated))});
  }
  return table;
}

Table ranks_table(const std::vector<RankMemory>& ranks) {
  Table table{{{"pipeline rank", true},
               {"fullest"},
               {"allocated", true},
               {"reserved", true},
               {"device", true}},
              {}};
  for (const RankMemory& rank : ranks) {
    table.rows.push_back({fmt::format("{}", rank.pipeline_rank), moment_name(rank.fullest),
                          to_text(rank.allocated), to_text(rank.reserved), to_text(rank.device)});
  }
  return table;
}

std::string memory_verdict(const step::StepMemory& memory, const Style& style) {
  const Bytes available = memory.available;
  const RankMemory& fullest = memory.fullest;
  if (!memory.rejection) {
    const std::string line = memory_text(memory);
    const std::size_t colon = line.find(':');
    const std::string word = line.substr(0, colon);
    std::string text =
        (memory.tight() ? bold(word, style) : good(word, style)) + line.substr(colon) + "\n";
    const std::string safer = safer_text(memory);
    return text + (safer.empty() ? safer : safer + "\n");
  }
  std::string text = fmt::format(
      "{} ({}): pipeline rank {} needs at least {}, the device has {}; {} are missing\n",
      bad("does not fit", style), cost::MemoryRejection::kRule, fullest.pipeline_rank,
      to_text(memory.rejection->needed), to_text(available), to_text(memory.rejection->missing()));
  if (memory.changes.empty()) {
    return text + "no single change of the usual keys makes it fit\n";
  }
  text += "single changes that make it fit:\n";
  for (const cost::FittingChange& change : memory.changes) {
    text += fmt::format("  {:<28} needs {}\n", change.change, to_text(change.needed));
  }
  return text;
}

std::string factor_text(const cost::MemoryFactor& factor) {
  using Kind = cost::MemoryFactor::Kind;
  switch (factor.kind) {
    case Kind::kCount:
      return fmt::format("{:.6g} {}", factor.number, factor.of);
    case Kind::kParameters:
      return fmt::format(
          "{:.6g} M {}{}", factor.number * factor.shards / 1e6, factor.of,
          factor.shards > 1.0 ? fmt::format(" / {:.0f} shards", factor.shards) : std::string());
    case Kind::kBytes: {
      constexpr double kFewBytes = 1024.0;
      const std::string size = factor.number < kFewBytes ? fmt::format("{:.6g} B", factor.number)
                                                         : to_text(Bytes(factor.number));
      return factor.of.empty() ? size : fmt::format("{} ({})", size, factor.of);
    }
    case Kind::kOver:
      return fmt::format("{:.6g} {}", factor.number, factor.of);
    case Kind::kShare:
      return fmt::format("{:.2g} %", 100.0 * factor.number);
  }
  return {};
}

// "8 in flight x 10 layers x 160 MiB (a layer)".
std::string product_text(const std::vector<cost::MemoryFactor>& factors) {
  std::string text;
  for (const cost::MemoryFactor& factor : factors) {
    const bool divides = factor.kind == cost::MemoryFactor::Kind::kOver;
    text += (text.empty() ? "" : divides ? " / " : " x ") + factor_text(factor);
  }
  return text;
}

Term part_term(const cost::MemoryPart& part) {
  Term term = bytes_term(part.what, part.bytes);
  term.formula = product_text(part.factors);
  for (const cost::MemoryPart& own : part.parts) {
    term.parts.push_back(part_term(own));
  }
  return term;
}

// An item of one summand is that summand.
Term item_term(std::size_t index, Bytes bytes, const std::vector<const cost::MemoryPart*>& parts) {
  Term term = bytes_term(item_name(index), bytes);
  if (parts.size() == 1) {
    Term only = part_term(*parts.front());
    term.formula = fmt::format("{}: {}", only.name, only.formula);
    term.parts = std::move(only.parts);
    return term;
  }
  std::vector<std::string> names;
  for (const cost::MemoryPart* part : parts) {
    names.push_back(part->what);
    term.parts.push_back(part_term(*part));
  }
  term.formula = join(names, " + ");
  return term;
}

}  // namespace

std::string to_text(const MemoryAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return memory_json_text(answer);
  }
  const RankMemory& fullest = answer.memory.fullest;
  if (style.format == Format::kCsv) {
    return to_text(items_table(fullest), style);
  }
  std::string text = memory_verdict(answer.memory, style);
  text += fmt::format("\n{}\n",
                      bold(fmt::format("pipeline rank {}, {}: {} allocated", fullest.pipeline_rank,
                                       moment_name(fullest.fullest), to_text(fullest.allocated)),
                           style));
  text += to_text(items_table(fullest), style);
  if (answer.memory.ranks.size() > 1) {
    text += "\n" + to_text(ranks_table(answer.memory.ranks), style);
  }
  for (const describe::Assumption& assumed : answer.job.assumed) {
    text += dim("assumed: " + describe::to_text(assumed), style) + "\n";
  }
  return fitted(text, style);
}

Term memory_tree(const RankMemory& fullest, const cost::MemoryRecord& record) {
  Term root = bytes_term(fmt::format("allocated on pipeline rank {}, {}", fullest.pipeline_rank,
                                     moment_name(fullest.fullest)),
                         fullest.allocated);
  root.page = "docs/models/memory.md";
  for (const std::size_t i : by_size(fullest.peak())) {
    root.parts.push_back(item_term(i, fullest.peak().bytes[i],
                                   record.parts(static_cast<MemoryItem>(i), fullest.fullest)));
  }
  return root;
}

}  // namespace sextant::explain
