#include "kb/entry_says.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::kb {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

// Keys of a layout, and what a change of them is of.
constexpr std::array<std::pair<std::string_view, std::string_view>, 28> kKeyChanges{
    {{"tp", "tp"},
     {"sp", "tp"},
     {"pp", "pp"},
     {"layers_per_stage", "pp"},
     {"vpp", "vpp"},
     {"schedule", "schedule"},
     {"cp", "cp"},
     {"cp_method", "cp"},
     {"cp_inner", "cp"},
     {"ep", "ep"},
     {"etp", "placement"},
     {"order", "placement"},
     {"dispatcher", "expert-dispatch"},
     {"dp", "dp"},
     {"zero", "zero"},
     {"zero_group", "zero"},
     {"reshard", "zero"},
     {"mbs", "mbs"},
     {"recompute", "recompute"},
     {"activation_offload", "offload"},
     {"precision", "precision"},
     {"parameters", "precision"},
     {"gradients", "precision"},
     {"optimizer", "optimizer"},
     {"attention", "attention-kernel"},
     {"loss", "loss"},
     {"compile", "compile"},
     {"overlap", "overlap"}}};

constexpr std::string_view kExpectsWhere = "expects";

// Axes of meshes under other names than the layout's keys.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kMeshKeys{
    {{"tensor", "tp"},
     {"model", "tp"},
     {"context", "cp"},
     {"sequence", "cp"},
     {"expert", "ep"},
     {"pipeline", "pp"},
     {"stage", "pp"},
     {"data", "dp"},
     {"fsdp", "dp"},
     {"replica", "dp"}}};

bool is_name_of_key(char c) {
  return (c >= 'a' && c <= 'z') || c == '_';
}

std::string_view key_named(std::string_view name) {
  for (const auto& [axis, key] : kMeshKeys) {
    if (name == axis) {
      return key;
    }
  }
  return change_of_key(name).empty() ? std::string_view() : name;
}

// Sizes of axes that are one key multiply: data=2,fsdp=8 is dp=16.
void add_value(Values& values, std::string_view key, std::string_view value) {
  const auto [found, is_new] = values.emplace(key, value);
  if (is_new) {
    return;
  }
  const auto one = to_integer(found->second);
  const auto other = to_integer(value);
  constexpr std::int64_t kMostOnAxis = 1'000'000;
  if (one && other && *one <= kMostOnAxis && *other <= kMostOnAxis) {
    found->second = fmt::format("{}", *one * *other);
  }
}

Values values_of(std::string_view text) {
  Values values;
  for (std::size_t equals = text.find('='); equals != std::string_view::npos;
       equals = text.find('=', equals + 1)) {
    std::size_t begin = equals;
    while (begin > 0 && is_name_of_key(text[begin - 1])) {
      begin -= 1;
    }
    const std::string_view key = key_named(text.substr(begin, equals - begin));
    const std::string_view rest = text.substr(equals + 1);
    if (!key.empty()) {
      add_value(values, key, rest.substr(0, std::min(rest.find_first_of(" ,;("), rest.size())));
    }
  }
  return values;
}

std::optional<Expects> measured_effect(const Entry& entry) {
  const Measurement& measured = entry.measured;
  if (measured.fate != Fate::kNumber) {
    return Expects{Quantity::kFits,
                   measured.fate == Fate::kFitsAfter ? Direction::kHigher : Direction::kLower,
                   {}};
  }
  if (!measured.effect_percent) {
    return std::nullopt;
  }
  const bool memory = measured.metric == "mem_gib";
  const double share = *measured.effect_percent / 100.0;
  const double ratio = memory ? 1.0 - share : 1.0 / (1.0 + share);
  return Expects{memory ? Quantity::kMemory : Quantity::kStep, step::direction_of(1.0, ratio),
                 RatioRange{ratio, ratio}};
}

}  // namespace

std::string expectation_text(const Expects& expects) {
  std::string text =
      fmt::format("{} {}", describe::word_of<Quantity>(kQuantityWords, expects.quantity),
                  describe::word_of<Direction>(kDirectionWords, expects.direction));
  if (expects.ratio) {
    text += fmt::format(", x{} to x{}", expects.ratio->low, expects.ratio->high);
  }
  return text;
}

Result<Expects> parse_expectation(std::string_view text) {
  const auto wrong = [text] {
    return invalid(fmt::format("'{}' is no expectation", printable(text)),
                   std::string(kExpectsWhere), "such as 'step lower, x0.7 to x0.85'");
  };
  const std::size_t comma = text.find(',');
  const std::vector<std::string_view> words = split(trimmed(text.substr(0, comma)), ' ');
  if (words.size() != 2) {
    return wrong();
  }
  Expects expects;
  SEXTANT_TRY(expects.quantity,
              describe::parse_word<Quantity>(kQuantityWords, words[0], "quantity", kExpectsWhere));
  SEXTANT_TRY(expects.direction, describe::parse_word<Direction>(kDirectionWords, words[1],
                                                                 "direction", kExpectsWhere));
  if (comma == std::string_view::npos) {
    return expects;
  }
  const std::vector<std::string_view> ends = split(trimmed(text.substr(comma + 1)), ' ');
  if (ends.size() != 3 || ends[1] != "to" || !ends[0].starts_with('x') ||
      !ends[2].starts_with('x')) {
    return wrong();
  }
  const auto low = to_double(ends[0].substr(1));
  const auto high = to_double(ends[2].substr(1));
  if (!low || !high || *low > *high) {
    return wrong();
  }
  expects.ratio = RatioRange{*low, *high};
  return expects;
}

std::optional<Expects> effect_of(const Entry& entry) {
  if (entry.kind == EntryKind::kWin) {
    return measured_effect(entry);
  }
  auto expects = parse_expectation(entry.expects);
  return expects ? std::optional(*expects) : std::nullopt;
}

std::string_view change_of_key(std::string_view key) {
  for (const auto& [name, change] : kKeyChanges) {
    if (key == name) {
      return change;
    }
  }
  return {};
}

std::vector<std::string_view> changes_of(Theme theme) {
  switch (theme) {
    case Theme::kTensor:
      return {"tp"};
    case Theme::kPipeline:
      return {"pp", "vpp", "schedule"};
    case Theme::kData:
      return {"dp", "zero"};
    case Theme::kContext:
      return {"cp"};
    case Theme::kExpert:
      return {"ep", "expert-dispatch"};
    case Theme::kMemory:
      return {"recompute", "offload", "zero", "optimizer"};
    case Theme::kPrecision:
      return {"precision"};
    case Theme::kKernel:
      return {"attention-kernel", "loss", "compile", "fusion"};
    case Theme::kBatch:
      return {"mbs"};
    case Theme::kTopology:
      return {"placement", "network"};
    case Theme::kOverlap:
      return {"overlap"};
    case Theme::kHost:
      return {"host", "data", "compile"};
  }
  return {};
}

std::vector<NamedKey> changed_keys(const Entry& entry) {
  const Values before = values_of(entry.before);
  const Values after = values_of(entry.after);
  std::map<std::string, NamedKey, std::less<>> keys;
  for (const auto& [key, value] : before) {
    keys[key].before = value;
  }
  for (const auto& [key, value] : after) {
    keys[key].after = value;
  }
  std::vector<NamedKey> changed;
  for (auto& [key, named] : keys) {
    if (named.before != named.after) {
      changed.push_back({key, std::move(named.before), std::move(named.after)});
    }
  }
  return changed;
}

}  // namespace sextant::kb
