#include "diagnose/axis.h"

#include <algorithm>
#include <array>
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
    const auto known =
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

GroupUse use_of(const metrics::RankSummary& rank, std::size_t group) {
  GroupUse use;
  use.ranks = rank.groups[group].ranks;
  std::ranges::sort(use.ranks);
  for (const metrics::CollectiveInstance& one : rank.instances) {
    if (one.group != group || !one.op) {
      continue;
    }
    if (*one.op == CollectiveOp::kSendReceive) {
      use.messages += 1;
    } else if (*one.op == CollectiveOp::kAllToAll) {
      use.exchanges += 1;
    } else {
      use.others += 1;
      use.is_bulk = use.is_bulk || one.bytes.value_or(0) >= kBulkBytes;
    }
  }
  return use;
}

bool are_neighbours(const std::vector<RankId>& ranks) {
  return ranks.size() > 1 &&
         ranks.back().value - ranks.front().value == static_cast<std::int64_t>(ranks.size()) - 1;
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
  const auto is_bulk = [](const GroupUse& use) { return use.is_bulk && use.ranks.size() > 1; };
  const bool has_stepping = std::ranges::any_of(
      groups, [&](const GroupUse& use) { return is_bulk(use) && !are_neighbours(use.ranks); });
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
    if (use.messages > 0 && use.exchanges + use.others == 0) {
      axes[i] = Axis::kPipeline;
    } else if (use.exchanges > 0 && !use.is_bulk) {
      axes[i] = Axis::kExpert;
    } else if (is_bulk(use) && !are_neighbours(use.ranks) && nearest != nullptr) {
      axes[i] = Axis::kData;
    } else if (&use == nearest && has_stepping) {
      axes[i] = Axis::kTensor;
    }
  }
  return axes;
}

std::vector<GroupAxis> group_axes(const metrics::RankSummary& rank) {
  std::vector<GroupUse> uses;
  for (std::size_t i = 0; i < rank.groups.size(); ++i) {
    uses.push_back(use_of(rank, i));
  }
  const std::vector<std::optional<Axis>> inferred = axes_inferred(uses);
  std::vector<GroupAxis> axes;
  for (std::size_t i = 0; i < rank.groups.size(); ++i) {
    std::optional<Axis> said = axis_said(rank.groups[i].description);
    if (!said) {
      said = axis_said(rank.groups[i].name);
    }
    axes.push_back({said ? said : inferred[i], said.has_value()});
  }
  return axes;
}

}  // namespace sextant::diagnose
