// One table of keys: name, allowed values, meaning, how to set, how to print. Reading, printing,
// help and errors all follow from it.
#include "describe/layout/layout_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/framework_defaults.h"

namespace sextant::describe {
namespace {

constexpr std::int64_t kMostRanks = 10'000'000;
constexpr std::int64_t kMostLayers = 1'000'000;

using Set = Result<void> (*)(Layout&, std::string_view value, std::string_view key);
using Get = std::string (*)(const Layout&);

struct KeyRow {
  LayoutKey help;
  Set set = nullptr;
  Get get = nullptr;
};

Result<std::int64_t> whole(std::string_view value, std::string_view key, std::int64_t least,
                           std::int64_t most) {
  const auto number = to_integer(value);
  if (!number || *number < least || *number > most) {
    return invalid(fmt::format("{}={} is not allowed", key, printable(value)), {},
                   fmt::format("a whole number from {} to {}", least, most));
  }
  return *number;
}

template <std::int64_t Layout::* Member, std::int64_t Least>
Result<void> set_count(Layout& layout, std::string_view value, std::string_view key) {
  SEXTANT_TRY(layout.*Member, whole(value, key, Least, kMostRanks));
  return {};
}

template <std::int64_t Layout::* Member>
std::string get_count(const Layout& layout) {
  return std::to_string(layout.*Member);
}

Result<bool> yes_or_no(std::string_view value, std::string_view key) {
  const std::string word = to_lower(value);
  if (word == "1" || word == "true" || word == "on" || word == "yes") {
    return true;
  }
  if (word == "0" || word == "false" || word == "off" || word == "no") {
    return false;
  }
  return invalid(fmt::format("{}={} is not allowed", key, printable(value)), {}, "0, 1");
}

template <bool Layout::* Member>
Result<void> set_flag(Layout& layout, std::string_view value, std::string_view key) {
  SEXTANT_TRY(layout.*Member, yes_or_no(value, key));
  return {};
}

template <bool Layout::* Member>
std::string get_flag(const Layout& layout) {
  return layout.*Member ? "1" : "0";
}

template <auto Member, const auto& Words, typename E>
Result<void> set_word(Layout& layout, std::string_view value, std::string_view key) {
  SEXTANT_TRY(layout.*Member, parse_word<E>(Words, value, key, {}));
  return {};
}

template <auto Member, const auto& Words, typename E>
std::string get_word(const Layout& layout) {
  return std::string(word_of<E>(Words, layout.*Member));
}

// "a+b+c" as words of one set, sorted and without repeats; "none" is no word.
template <typename E, std::size_t N>
Result<std::vector<E>> words_of(std::string_view value, const std::array<Word<E>, N>& words,
                                std::string_view key) {
  std::vector<E> found;
  if (value.empty() || to_lower(value) == "none") {
    return found;
  }
  for (const std::string_view part : split(value, '+')) {
    SEXTANT_TRY(const E one, parse_word<E>(words, part, key, {}));
    found.push_back(one);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

template <typename E, std::size_t N>
std::string joined(const std::vector<E>& values, const std::array<Word<E>, N>& words) {
  std::vector<std::string> names;
  for (const E value : values) {
    names.emplace_back(word_of<E>(words, value));
  }
  return names.empty() ? "none" : join(names, "+");
}

// "none", "selective:core_attn+moe_act", "full", "full:uniform:1", "full:block:3".
Result<void> set_recompute(Layout& layout, std::string_view value, std::string_view key) {
  const std::vector<std::string_view> parts = split(value, ':');
  RecomputePolicy policy;
  SEXTANT_TRY(policy.granularity, parse_word<Recompute>(kRecomputeWords, parts[0], key, {}));
  if (policy.granularity == Recompute::kSelective && parts.size() <= 2) {
    policy.modules = {RecomputeModule::kCoreAttention};
    if (parts.size() == 2) {
      SEXTANT_TRY(policy.modules, words_of(parts[1], kRecomputeModuleWords, "recompute module"));
    }
  } else if (policy.granularity == Recompute::kFull && parts.size() == 3) {
    SEXTANT_TRY(policy.method, parse_word<RecomputeMethod>(kRecomputeMethodWords, parts[1],
                                                           "recompute method", {}));
    SEXTANT_TRY(policy.layers, whole(parts[2], key, 1, kMostLayers));
  } else if (parts.size() != 1) {
    return invalid(fmt::format("recompute={} is not allowed", printable(value)), {},
                   "none, selective[:MODULE+…], full[:uniform|block:LAYERS]");
  }
  layout.recompute = policy;
  return {};
}

std::string get_recompute(const Layout& layout) {
  const RecomputePolicy& policy = layout.recompute;
  std::string text(word_of<Recompute>(kRecomputeWords, policy.granularity));
  if (policy.granularity == Recompute::kSelective) {
    text += ":" + joined(policy.modules, kRecomputeModuleWords);
  } else if (policy.granularity == Recompute::kFull && policy.layers > 0) {
    text += fmt::format(":{}:{}", word_of<RecomputeMethod>(kRecomputeMethodWords, policy.method),
                        policy.layers);
  }
  return text;
}

// "even", "emb+loss" (each counted as a layer), or layers of each stage: "3+4+4+3", "3+4*6+3".
Result<void> set_split(Layout& layout, std::string_view value, std::string_view key) {
  constexpr std::size_t kMostStages = 16384;
  PipelineSplit split_read;
  for (const std::string_view part : split(value, '+')) {
    if (part == "emb" || part == "loss") {
      (part == "emb" ? split_read.count_embedding : split_read.count_loss) = true;
      continue;
    }
    if (part == "even" && value == "even") {
      continue;
    }
    const std::vector<std::string_view> run = split(part, '*');
    SEXTANT_TRY(const std::int64_t layers, whole(run[0], key, 0, kMostLayers));
    std::int64_t repeat = 1;
    if (run.size() == 2) {
      SEXTANT_TRY(repeat, whole(run[1], key, 1, static_cast<std::int64_t>(kMostStages)));
    }
    if (run.size() > 2 ||
        split_read.layers_per_stage.size() + static_cast<std::size_t>(repeat) > kMostStages) {
      return invalid(fmt::format("{}={} is not allowed", key, printable(value)), {},
                     "even, emb+loss, or layers of each stage such as 3+4*6+3");
    }
    split_read.layers_per_stage.insert(split_read.layers_per_stage.end(),
                                       static_cast<std::size_t>(repeat), layers);
  }
  layout.split = std::move(split_read);
  return {};
}

std::string get_split(const Layout& layout) {
  std::vector<std::string> parts;
  if (layout.split.count_embedding) {
    parts.emplace_back("emb");
  }
  if (layout.split.count_loss) {
    parts.emplace_back("loss");
  }
  const std::vector<std::int64_t>& stages = layout.split.layers_per_stage;
  for (std::size_t i = 0; i < stages.size();) {
    std::size_t end = i;
    while (end < stages.size() && stages[end] == stages[i]) {
      end += 1;
    }
    parts.push_back(end - i == 1 ? std::to_string(stages[i])
                                 : fmt::format("{}*{}", stages[i], end - i));
    i = end;
  }
  return parts.empty() ? "even" : join(parts, "+");
}

// "adam", or "adam:MASTER:FIRST:SECOND[:offload]" with the storage of each.
Result<void> set_optimizer(Layout& layout, std::string_view value, std::string_view key) {
  std::vector<std::string_view> parts = split(value, ':');
  SEXTANT_TRY(const OptimizerKind kind,
              parse_word<OptimizerKind>(kOptimizerWords, parts[0], key, {}));
  Optimizer optimizer = default_optimizer(kind);
  if (parts.back() == "offload") {
    optimizer.offload = true;
    parts.pop_back();
  }
  if (parts.size() != 1 && parts.size() != 4) {
    return invalid(
        fmt::format("optimizer={} is not allowed", printable(value)), {},
        "KIND or KIND:MASTER:FIRST:SECOND[:offload], storage none|fp32|bf16|fp16|fp8|int8");
  }
  if (parts.size() == 4) {
    SEXTANT_TRY(optimizer.master, parse_word<Storage>(kStorageWords, parts[1], "storage", {}));
    SEXTANT_TRY(optimizer.first_moment,
                parse_word<Storage>(kStorageWords, parts[2], "storage", {}));
    SEXTANT_TRY(optimizer.second_moment,
                parse_word<Storage>(kStorageWords, parts[3], "storage", {}));
  }
  layout.optimizer = optimizer;
  return {};
}

std::string get_optimizer(const Layout& layout) {
  const Optimizer& optimizer = layout.optimizer;
  std::string text(word_of<OptimizerKind>(kOptimizerWords, optimizer.kind));
  Optimizer usual = default_optimizer(optimizer.kind);
  usual.offload = optimizer.offload;
  if (optimizer != usual) {
    text += fmt::format(":{}:{}:{}", word_of<Storage>(kStorageWords, optimizer.master),
                        word_of<Storage>(kStorageWords, optimizer.first_moment),
                        word_of<Storage>(kStorageWords, optimizer.second_moment));
  }
  return text + (optimizer.offload ? ":offload" : "");
}

Result<void> set_overlap(Layout& layout, std::string_view value, std::string_view key) {
  SEXTANT_TRY(layout.overlap, words_of(value, kOverlapWords, key));
  return {};
}

std::string get_overlap(const Layout& layout) {
  return joined(layout.overlap, kOverlapWords);
}

// "tp-cp-ep-dp-pp": every axis once, innermost first.
Result<void> set_order(Layout& layout, std::string_view value, std::string_view key) {
  const std::vector<std::string_view> parts = split(value, '-');
  std::array<Axis, 5> order{};
  std::array<bool, 5> seen{};
  bool complete = parts.size() == order.size();
  for (std::size_t i = 0; complete && i < order.size(); ++i) {
    SEXTANT_TRY(order[i], parse_word<Axis>(kAxisWords, parts[i], key, {}));
    seen[static_cast<std::size_t>(order[i])] = true;
  }
  if (!complete || !std::all_of(seen.begin(), seen.end(), [](bool one) { return one; })) {
    return invalid(fmt::format("order={} does not name every axis once", printable(value)), {},
                   "tp, cp, ep, dp and pp joined by '-', innermost first");
  }
  layout.order = order;
  return {};
}

std::string get_order(const Layout& layout) {
  std::vector<std::string> names;
  for (const Axis axis : layout.order) {
    names.emplace_back(word_of<Axis>(kAxisWords, axis));
  }
  return join(names, "-");
}

#define SEXTANT_COUNT(name, member, least, meaning)                       \
  KeyRow {                                                                \
    {name, "a whole number", meaning}, set_count<&Layout::member, least>, \
        get_count<&Layout::member>                                        \
  }
#define SEXTANT_FLAG(name, member, meaning)                                      \
  KeyRow {                                                                       \
    {name, "0|1", meaning}, set_flag<&Layout::member>, get_flag<&Layout::member> \
  }
#define SEXTANT_WORD(name, member, words, type, values, meaning)     \
  KeyRow {                                                           \
    {name, values, meaning}, set_word<&Layout::member, words, type>, \
        get_word<&Layout::member, words, type>                       \
  }

constexpr std::array kKeyRows{
    SEXTANT_COUNT("tp", tp, 1, "tensor-parallel size"),
    SEXTANT_FLAG("sp", sp, "sequence parallelism inside the tensor-parallel group"),
    SEXTANT_COUNT("cp", cp, 1, "context-parallel size"),
    SEXTANT_WORD("cp_method", cp_method, kCpMethodWords, CpMethod, "p2p|all_gather|a2a|a2a+p2p",
                 "how context-parallel ranks exchange keys and values"),
    SEXTANT_COUNT("cp_inner", cp_inner, 0,
                  "a2a+p2p: size of the inner all-to-all group (0: as heads allow)"),
    SEXTANT_COUNT("pp", pp, 1, "pipeline-parallel size"),
    SEXTANT_COUNT("vpp", vpp, 1, "model chunks a pipeline rank holds"),
    SEXTANT_WORD("schedule", schedule, kScheduleWords, Schedule,
                 "gpipe|1f1b|interleaved-1f1b|looped-bfs|interleaved-zb|zbv|dualpipe|dualpipev",
                 "order of microbatches in the pipeline"),
    KeyRow{{"layers_per_stage", "even|emb+loss|3+4*6+3", "how layers are dealt to stages"},
           set_split,
           get_split},
    SEXTANT_COUNT("ep", ep, 1, "expert-parallel size"),
    SEXTANT_COUNT("etp", etp, 1, "tensor-parallel size inside experts"),
    SEXTANT_COUNT("dp", dp, 0, "data-parallel size (0: what is left of the world)"),
    SEXTANT_WORD("zero", zero, kZeroWords, Zero, "0|1|2|3",
                 "what data parallelism shards (3: FSDP)"),
    SEXTANT_COUNT("zero_group", zero_group, 0,
                  "ranks a shard is spread over (0: all of dp; less: HSDP)"),
    SEXTANT_FLAG("reshard", reshard_after_forward,
                 "ZeRO-3 frees gathered parameters between passes"),
    SEXTANT_COUNT("mbs", mbs, 1, "sequences a microbatch"),
    KeyRow{{"recompute", "none|selective[:MODULE+…]|full[:uniform|block:LAYERS]",
            "activations computed again in backward"},
           set_recompute,
           get_recompute},
    SEXTANT_FLAG("activation_offload", activation_offload, "activations wait in host memory"),
    SEXTANT_WORD("precision", precision, kPrecisionWords, Precision,
                 "fp32|tf32|fp16|bf16|fp8|mxfp8|nvfp4|int8", "format of the large matrix products"),
    SEXTANT_WORD("parameters", parameters, kStorageWords, Storage, "fp32|bf16|fp16|fp8",
                 "storage of the parameters used in compute"),
    SEXTANT_WORD("gradients", gradients, kStorageWords, Storage, "fp32|bf16|fp16",
                 "storage and reduction of gradients"),
    KeyRow{{"optimizer", "adam|adam8bit|muon|sgd|adafactor[:MASTER:FIRST:SECOND][:offload]",
            "optimizer and the storage of its states"},
           set_optimizer,
           get_optimizer},
    SEXTANT_WORD("attention", attention, kAttentionKernelWords, AttentionKernel,
                 "flash|cudnn|fused-softmax|eager", "attention kernel"),
    SEXTANT_WORD("loss", loss, kLossKernelWords, LossKernel, "plain|fused|in-place|chunked",
                 "how logits become a loss: copies of them that live at once"),
    SEXTANT_WORD("compile", launch, kLaunchWords, Launch, "0|1|cuda-graph",
                 "how kernels are issued"),
    SEXTANT_WORD("dispatcher", dispatcher, kDispatcherWords, Dispatcher,
                 "alltoall|allgather|deepep", "how tokens reach experts"),
    KeyRow{{"overlap", "none|grad_reduce+param_gather+tp+p2p+ep+cp",
            "communication hidden behind compute"},
           set_overlap,
           get_overlap},
    KeyRow{{"order", "tp-cp-ep-dp-pp", "rank order, innermost axis first"}, set_order, get_order},
};

#undef SEXTANT_COUNT
#undef SEXTANT_FLAG
#undef SEXTANT_WORD

const KeyRow* key_row(std::string_view name) {
  const auto* const found = std::find_if(kKeyRows.begin(), kKeyRows.end(),
                                         [&](const KeyRow& key) { return key.help.name == name; });
  return found == kKeyRows.end() ? nullptr : found;
}

tl::unexpected<Error> unknown_key(std::string_view name) {
  std::vector<std::string> names;
  for (const KeyRow& key : kKeyRows) {
    names.emplace_back(key.help.name);
  }
  return unknown_word(name, std::move(names), "layout key", "‹layout›");
}

}  // namespace

std::span<const LayoutKey> layout_keys() {
  static const std::vector<LayoutKey> kHelp = [] {
    std::vector<LayoutKey> help;
    for (const KeyRow& key : kKeyRows) {
      help.push_back(key.help);
    }
    return help;
  }();
  return kHelp;
}

Result<std::vector<std::string>> set_keys(std::string_view text, Layout& layout) {
  constexpr std::size_t kLongestLayout = 65536;
  if (text.size() > kLongestLayout) {
    return invalid("the layout is longer than 64 KiB", "‹layout›");
  }
  std::vector<std::string> given;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view pair = trimmed(part);
    if (pair.empty()) {
      continue;
    }
    const std::size_t equals = pair.find('=');
    const std::string_view name = trimmed(pair.substr(0, equals));
    const KeyRow* key = key_row(name);
    if (key == nullptr) {
      return unknown_key(name);
    }
    if (equals == std::string_view::npos) {
      return invalid(fmt::format("{} has no value", name), "‹layout›",
                     fmt::format("{}={}", name, key->help.values));
    }
    if (std::find(given.begin(), given.end(), name) != given.end()) {
      return invalid(fmt::format("{} is given twice", name), "‹layout›", "each key once");
    }
    auto set = key->set(layout, trimmed(pair.substr(equals + 1)), name);
    if (!set) {
      set.error().where = "‹layout›";
      return tl::unexpected(set.error());
    }
    given.emplace_back(name);
  }
  return given;
}

Result<LayoutReading> parse_layout(std::string_view text, Framework framework) {
  LayoutReading reading;
  SEXTANT_TRY(reading.given, set_keys(text, reading.layout));
  reading.defaulted = fill_defaults(reading.layout, reading.given, framework);
  return reading;
}

std::string to_text(const Layout& layout) {
  const Layout plain;
  std::vector<std::string> parts;
  for (const KeyRow& key : kKeyRows) {
    const std::string value = key.get(layout);
    if (value != key.get(plain)) {
      parts.push_back(fmt::format("{}={}", key.help.name, value));
    }
  }
  return join(parts, ",");
}

std::vector<std::pair<std::string_view, std::string>> layout_values(const Layout& layout) {
  std::vector<std::pair<std::string_view, std::string>> values;
  for (const KeyRow& key : kKeyRows) {
    values.emplace_back(key.help.name, key.get(layout));
  }
  return values;
}

bool Layout::overlaps(Overlap what) const {
  return std::find(overlap.begin(), overlap.end(), what) != overlap.end();
}

}  // namespace sextant::describe
