#include "explain/memory_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "describe/layout/layout_text.h"
#include "explain/json.h"
#include "explain/memory_formula.h"
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
  json["fits"] = !answer.rejection.has_value();
  json["tight"] = !answer.rejection &&
                  answer.ranks[answer.fullest].device > answer.job.cluster.device.usable_memory();
  json["available_bytes"] = answer.job.cluster.device.usable_memory().base();
  json["layout"] = describe::to_text(answer.job.layout);
  json["fullest_rank"] = answer.ranks[answer.fullest].pipeline_rank;
  Json& ranks = json["ranks"] = Json::array();
  for (const RankMemory& rank : answer.ranks) {
    ranks.push_back(rank_json(rank));
  }
  json["missing_bytes"] =
      answer.rejection ? Json(answer.rejection->missing().base()) : Json(nullptr);
  Json& changes = json["fitting_changes"] = Json::array();
  for (const cost::FittingChange& change : answer.changes) {
    changes.push_back({{"change", change.change}, {"needed_bytes", change.needed.base()}});
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

Table ranks_table(const MemoryAnswer& answer) {
  Table table{{{"pipeline rank", true},
               {"fullest"},
               {"allocated", true},
               {"reserved", true},
               {"device", true}},
              {}};
  for (const RankMemory& rank : answer.ranks) {
    table.rows.push_back({fmt::format("{}", rank.pipeline_rank), moment_name(rank.fullest),
                          to_text(rank.allocated), to_text(rank.reserved), to_text(rank.device)});
  }
  return table;
}

std::string memory_verdict(const MemoryAnswer& answer, const Style& style) {
  const Bytes available = answer.job.cluster.device.usable_memory();
  const RankMemory& fullest = answer.ranks[answer.fullest];
  if (!answer.rejection) {
    const bool tight = fullest.device > available;
    return fmt::format("{}: pipeline rank {} needs {} of {}{}\n",
                       tight ? bold("tight", style) : good("fits", style), fullest.pipeline_rank,
                       to_text(fullest.device), to_text(available),
                       tight ? fmt::format(" with the allocator's cache, {} without it: "
                                           "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True helps",
                                           to_text(fullest.least))
                             : "");
  }
  std::string text = fmt::format(
      "{} ({}): pipeline rank {} needs at least {}, the device has {}; {} are missing\n",
      bad("does not fit", style), cost::MemoryRejection::kRule, fullest.pipeline_rank,
      to_text(answer.rejection->needed), to_text(available), to_text(answer.rejection->missing()));
  if (answer.changes.empty()) {
    return text + "no single change of the usual keys makes it fit\n";
  }
  text += "single changes that make it fit:\n";
  for (const cost::FittingChange& change : answer.changes) {
    text += fmt::format("  {:<28} needs {}\n", change.change, to_text(change.needed));
  }
  return text;
}

Term block_term(const cost::BlockDetail& block, const cost::StageDetail& stage,
                const workload::Shard& shard) {
  Bytes kept;
  Bytes left;
  for (const cost::SavedTensor& tensor : block.tensors) {
    kept += tensor.bytes;
    left += tensor.recomputed ? Bytes() : tensor.bytes;
  }
  const std::int64_t untouched = block.layers - block.whole - block.in_part;
  const Bytes all =
      (kept * static_cast<double>(untouched) + left * static_cast<double>(block.in_part)) *
      static_cast<double>(stage.in_flight);
  Term term = bytes_term(fmt::format("stage {} block {}", stage.stage.index, block.block), all);
  term.formula =
      fmt::format("{} in flight x ({} layers x {} + {} in part x {} + {} whole)", stage.in_flight,
                  untouched, to_text(kept), block.in_part, to_text(left), block.whole);
  for (const cost::SavedTensor& tensor : block.tensors) {
    Term part = bytes_term(
        fmt::format("{}: {}", describe::word_of<workload::Part>(workload::kPartWords, tensor.part),
                    tensor.name),
        tensor.bytes);
    part.formula = fmt::format("{} tokens x {:.6g} B{}", shard.tokens,
                               tensor.bytes.base() / static_cast<double>(shard.tokens),
                               tensor.recomputed ? ", computed again" : "");
    term.parts.push_back(std::move(part));
  }
  return term;
}

Term weights_term(const std::string& name, const workload::Weights& weights, std::int64_t times) {
  Term term;
  term.name = name;
  term.number = static_cast<double>(weights.total()) * static_cast<double>(times);
  term.unit = "count";
  term.value = fmt::format("{:.6g} M", term.number / 1e6);
  term.formula =
      fmt::format("{} x ({} dense + {} in experts)", times, weights.dense, weights.experts);
  return term;
}

void add_activation_parts(const cost::MemoryDetail& detail, Term& term) {
  for (const cost::StageDetail& stage : detail.stages) {
    for (const cost::BlockDetail& block : stage.blocks) {
      term.parts.push_back(block_term(block, stage, detail.shard));
    }
  }
}

void add_parameter_parts(const cost::MemoryDetail& detail, Term& term) {
  for (const cost::StageDetail& stage : detail.stages) {
    for (const cost::BlockDetail& block : stage.blocks) {
      term.parts.push_back(
          weights_term(fmt::format("stage {} block {}", stage.stage.index, block.block),
                       block.weights, block.layers));
    }
    if (stage.stage.embedding) {
      term.parts.push_back(weights_term("embedding", detail.embedding, 1));
    }
    if (stage.stage.head) {
      term.parts.push_back(weights_term("head and final norm", detail.head, 1));
    }
  }
}

}  // namespace

std::string to_text(const MemoryAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return memory_json_text(answer);
  }
  const RankMemory& fullest = answer.ranks[answer.fullest];
  if (style.format == Format::kCsv) {
    return to_text(items_table(fullest), style);
  }
  std::string text = memory_verdict(answer, style);
  text += fmt::format("\n{}\n",
                      bold(fmt::format("pipeline rank {}, {}: {} allocated", fullest.pipeline_rank,
                                       moment_name(fullest.fullest), to_text(fullest.allocated)),
                           style));
  text += to_text(items_table(fullest), style);
  if (answer.ranks.size() > 1) {
    text += "\n" + to_text(ranks_table(answer), style);
  }
  for (const describe::Assumption& assumed : answer.job.assumed) {
    text += dim("assumed: " + describe::to_text(assumed), style) + "\n";
  }
  return text;
}

Term memory_tree(const MemoryAnswer& answer, const cost::MemoryDetail& detail) {
  const RankMemory& fullest = answer.ranks[answer.fullest];
  Term root = bytes_term(fmt::format("allocated on pipeline rank {}, {}", fullest.pipeline_rank,
                                     moment_name(fullest.fullest)),
                         fullest.allocated);
  root.page = "docs/models/memory.md";
  for (const std::size_t i : by_size(fullest.peak())) {
    const auto item = static_cast<MemoryItem>(i);
    Term term = bytes_term(item_name(i), fullest.peak().bytes[i]);
    term.formula = memory_formula(item, answer, detail);
    if (item == MemoryItem::kActivations) {
      add_activation_parts(detail, term);
    } else if (item == MemoryItem::kParameters) {
      add_parameter_parts(detail, term);
    }
    root.parts.push_back(std::move(term));
  }
  return root;
}

}  // namespace sextant::explain
