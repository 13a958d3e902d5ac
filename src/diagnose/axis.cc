#include "diagnose/axis.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace sextant::diagnose {
namespace {

// Below that it is counts, norms and losses. Any gradient bucket or layer's activations are more.
constexpr std::int64_t kBulkBytes = 1 << 20;

enum class Word : std::uint8_t { kTensor, kContext, kExpert, kPipeline, kData, kModel };

// Sources: Megatron-LM, megatron/core/parallel_state.py (group_desc); torchtitan,
// distributed/parallel_dims.py (names of mesh dimensions, to which PyTorch adds "mesh_");
// DeepSpeed, deepspeed/utils/groups.py; Accelerate, parallelism_config.py.
constexpr std::array<std::pair<std::string_view, Word>, 24> kGroupWords{
    {{"tensor", Word::kTensor},   {"tp", Word::kTensor},          {"context", Word::kContext},
     {"cp", Word::kContext},      {"sequence", Word::kContext},   {"sp", Word::kContext},
     {"ulysses", Word::kContext}, {"expert", Word::kExpert},      {"ep", Word::kExpert},
     {"moe", Word::kExpert},      {"pipeline", Word::kPipeline},  {"pipe", Word::kPipeline},
     {"pp", Word::kPipeline},     {"embedding", Word::kPipeline}, {"data", Word::kData},
     {"dp", Word::kData},         {"ddp", Word::kData},           {"fsdp", Word::kData},
     {"hsdp", Word::kData},       {"zero", Word::kData},          {"shard", Word::kData},
     {"replicate", Word::kData},  {"efsdp", Word::kData},         {"model", Word::kModel}}};

std::array<bool, 6> words_in(std::string_view name) {
  std::array<bool, 6> found{};
  std::string word;
  const auto finish = [&] {
    const auto* known =
        std::ranges::find(kGroupWords, word, &std::pair<std::string_view, Word>::first);
    if (known != kGroupWords.end()) {
      found[static_cast<std::size_t>(known->second)] = true;
    }
    word.clear();
  };
  for (const char c : name) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      word += c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else {
      finish();
    }
  }
  finish();
  return found;
}

// `group`: kNone for what is of none.
GroupUse use_of(const metrics::RankSummary& rank, std::uint32_t group) {
  GroupUse use;
  if (group < rank.groups.size()) {
    use.ranks = rank.groups[group].ranks;
    std::ranges::sort(use.ranks);
  }
  std::map<std::int64_t, std::int64_t> sizes;
  for (const metrics::CollectiveInstance& one : rank.instances) {
    if (one.group != group || !one.op) {
      continue;
    }
    if (*one.op == CollectiveOp::kSendReceive) {
      use.messages += 1;
    } else if (*one.op == CollectiveOp::kAllToAll) {
      use.exchanges += 1;
    } else {
      const bool is_bulk = one.bytes.value_or(0) >= kBulkBytes;
      use.others += 1;
      use.bulk += is_bulk ? 1 : 0;
      if (is_bulk && *one.op == CollectiveOp::kAllReduce) {
        use.bulk_reductions += 1;
        use.alike = std::max(use.alike, ++sizes[*one.bytes]);
      }
    }
  }
  return use;
}

bool are_neighbours(const std::vector<RankId>& ranks) {
  return ranks.size() > 1 &&
         ranks.back().value - ranks.front().value == static_cast<std::int64_t>(ranks.size()) - 1;
}

// Of the only group that carries bulk. A model has eight layers' all-reduces in a profile at least.
std::optional<Axis> axis_alone(const GroupUse& use) {
  constexpr std::int64_t kFewest = 8;
  constexpr double kNearlyAll = 0.9;
  if (use.bulk > use.bulk_reductions) {
    return std::nullopt;
  }
  const double alike = static_cast<double>(use.alike) / static_cast<double>(use.bulk_reductions);
  return use.bulk_reductions >= kFewest && alike >= kNearlyAll ? Axis::kTensor : Axis::kData;
}

}  // namespace

std::optional<Axis> axis_said(std::string_view name) {
  const std::array<bool, 6> words = words_in(name);
  const auto says = [&](Word word) { return words[static_cast<std::size_t>(word)]; };
  if (says(Word::kExpert)) {
    // Experts' data parallelism; their tensor parallelism, unless with ep in one group.
    return says(Word::kData)                            ? Axis::kData
           : says(Word::kTensor) && !says(Word::kModel) ? Axis::kTensor
                                                        : Axis::kExpert;
  }
  if (says(Word::kTensor)) {
    return says(Word::kData) || says(Word::kPipeline) ? std::nullopt : std::optional(Axis::kTensor);
  }
  if (says(Word::kPipeline)) {
    return says(Word::kData) ? std::nullopt : std::optional(Axis::kPipeline);
  }
  // DATA_PARALLEL_GROUP_WITH_CP: gradients are reduced over both.
  if (says(Word::kData)) {
    return Axis::kData;
  }
  return says(Word::kContext) ? std::optional(Axis::kContext) : std::nullopt;
}

std::vector<std::optional<Axis>> axes_inferred(const std::vector<GroupUse>& groups) {
  std::vector<std::optional<Axis>> axes(groups.size());
  const auto is_bulk = [](const GroupUse& use) { return use.bulk > 0; };
  const bool is_alone = std::ranges::count_if(groups, is_bulk) == 1;
  const bool has_stepping = std::ranges::any_of(groups, [&](const GroupUse& use) {
    return is_bulk(use) && use.ranks.size() > 1 && !are_neighbours(use.ranks);
  });
  // The smallest of neighbours: ranks of one node. A larger one around it holds other axes too.
  const GroupUse* nearest = nullptr;
  for (const GroupUse& use : groups) {
    if (is_bulk(use) && are_neighbours(use.ranks) &&
        (nearest == nullptr || use.ranks.size() < nearest->ranks.size())) {
      nearest = &use;
    }
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const GroupUse& use = groups[i];
    if (use.messages > 0 && use.exchanges + use.others == 0 && !use.ranks.empty()) {
      axes[i] = Axis::kPipeline;
    } else if (use.exchanges > 0 && !is_bulk(use)) {
      axes[i] = Axis::kExpert;
    } else if (is_alone && is_bulk(use)) {
      axes[i] = axis_alone(use);
    } else if (is_bulk(use) && use.ranks.size() > 1 && !are_neighbours(use.ranks) &&
               nearest != nullptr) {
      axes[i] = Axis::kData;
    } else if (&use == nearest && has_stepping) {
      axes[i] = Axis::kTensor;
    }
  }
  return axes;
}

RankAxes rank_axes(const metrics::RankSummary& rank) {
  std::vector<GroupUse> uses;
  for (std::uint32_t i = 0; i < rank.groups.size(); ++i) {
    uses.push_back(use_of(rank, i));
  }
  uses.push_back(use_of(rank, metrics::kNone));
  const std::vector<std::optional<Axis>> inferred = axes_inferred(uses);
  RankAxes axes;
  for (std::size_t i = 0; i < rank.groups.size(); ++i) {
    std::optional<Axis> said = axis_said(rank.groups[i].description);
    if (!said) {
      said = axis_said(rank.groups[i].name);
    }
    axes.groups.push_back({said ? said : inferred[i], said.has_value()});
  }
  axes.unnamed.axis = inferred.back();
  return axes;
}

}  // namespace sextant::diagnose
