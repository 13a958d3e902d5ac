// llm-foundry's YAML, which describes a whole job on Composer's FSDP.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "emit/other_words.h"
#include "emit/setting_values.h"

namespace sextant::emit {
namespace {

constexpr int kDeepestReference = 8;
constexpr std::int64_t kMostFoundry = 100'000'000;

using Words = std::array<std::pair<std::string_view, std::string_view>, 4>;
constexpr Words kComposerStrategies{
    {{"FULL_SHARD", "3"}, {"SHARD_GRAD_OP", "2"}, {"NO_SHARD", "0"}, {"", ""}}};
constexpr Words kComposerFormats{
    {{"amp_bf16", "bf16"}, {"amp_fp16", "fp16"}, {"amp_fp8", "fp8"}, {"fp32", "fp32"}}};

class Foundry {
 public:
  explicit Foundry(const Settings& settings) : settings_(settings) {
    reading_.dialect = settings.dialect;
    reading_.framework = describe::Framework::kFsdp1;
    reading_.unresolved = settings.unresolved;
  }

  Reading read(const describe::DataStore& data) {
    sharding();
    formats();
    layout_size("mbs", {"device_train_microbatch_size", "device_train_grad_accum"});
    reading_.global_batch = number("gbs", {"global_train_batch_size"});
    reading_.sequence = number("seq", {"max_seq_len", "train_loader.dataset.max_seq_len",
                                       "model.max_seq_len", "variables.max_seq_len"});
    shape();
    model(data);
    if (const Setting* devices = find(settings_.launch, "devices")) {
      reading_.devices = to_whole(devices->values.front());
    }
    return std::move(reading_);
  }

 private:
  // The value, where it refers to another key that one's: ${variables.max_seq_len}.
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const {
    const Setting* setting = find(settings_.given, key);
    for (int i = 0; i < kDeepestReference && setting != nullptr; ++i) {
      if (setting->values.size() != 1) {
        return std::nullopt;
      }
      const std::string& value = setting->values.front();
      if (!value.starts_with("${")) {
        return is_one_of(value, {"null", "~", ""}) ? std::nullopt : std::optional(value);
      }
      setting = find(settings_.given, std::string_view(value).substr(2, value.find('}') - 2));
    }
    return std::nullopt;
  }

  // A whole number from 1; nothing for anything else.
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view key) const {
    const auto said = text(key);
    const auto value = said ? to_whole(*said) : std::nullopt;
    return value && *value > 0 && *value < kMostFoundry ? value : std::nullopt;
  }

  void fact(std::string_view field, std::string value, std::string_view key) {
    const Setting* setting = find(settings_.given, key);
    reading_.facts.push_back({std::string(field), std::move(value),
                              fmt::format("{} = {}", key, printable(text(key).value_or(""), 40)),
                              setting == nullptr ? Place{} : setting->place});
  }

  void set_layout(std::string_view field, std::string value, std::string_view key) {
    if (describe::set_keys(fmt::format("{}={}", field, value), reading_.layout)) {
      fact(field, std::move(value), key);
    }
  }

  void open(std::string_view field, std::string_view key, std::string why) {
    reading_.not_known.emplace(field);
    if (const Setting* setting = find(settings_.given, key)) {
      reading_.unresolved.push_back(
          {fmt::format("{} = {}", key, printable(text(key).value_or(""), 40)), std::move(why),
           setting->place});
    }
  }

  void chosen(std::string_view field, std::string_view key, const Words& words) {
    const auto said = text(key);
    const auto* const row = std::ranges::find_if(words, [&](const auto& each) {
      return said && !each.first.empty() && each.first == *said;
    });
    if (row != words.end()) {
      set_layout(field, std::string(row->second), key);
    } else {
      open(field, key, "not one of the words that are known here");
    }
  }

  void sharding() {
    chosen("zero", "fsdp_config.sharding_strategy", kComposerStrategies);
    const auto again = text("fsdp_config.activation_checkpointing");
    const auto flag = again ? to_flag(*again) : std::nullopt;
    if (flag) {
      set_layout("recompute", *flag ? "full" : "none", "fsdp_config.activation_checkpointing");
    } else {
      open("recompute", "fsdp_config.activation_checkpointing", "it is no switch");
    }
  }

  void formats() { chosen("precision", "precision", kComposerFormats); }

  void layout_size(std::string_view field, std::initializer_list<std::string_view> keys) {
    const std::string_view key = *keys.begin();
    if (const auto value = count(key)) {
      set_layout(field, std::to_string(*value), key);
    } else {
      open(field, key, "Composer finds it when the job runs");
    }
  }

  std::optional<std::int64_t> number(std::string_view field,
                                     std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
      if (const auto value = count(key)) {
        fact(field, std::to_string(*value), key);
        return value;
      }
    }
    return std::nullopt;
  }

  void shape() {
    number("layers", {"model.n_layers"});
    const auto hidden = number("hidden", {"model.d_model"});
    number("heads", {"model.n_heads"});
    number("kv_heads", {"model.attn_config.kv_n_heads"});
    number("vocab", {"model.vocab_size"});
    const auto ratio = count("model.expansion_ratio");
    if (number("ffn", {"model.ffn_config.ffn_hidden_size"}) || !hidden || !ratio) {
      return;
    }
    fact("ffn", std::to_string(saturating_product({*hidden, *ratio})), "model.expansion_ratio");
  }

  void model(const describe::DataStore& data) {
    const auto path = text("model.pretrained_model_name_or_path");
    if (!path) {
      return;
    }
    if (auto known = hub_model(*path, data)) {
      fact("model", known->name, "model.pretrained_model_name_or_path");
      reading_.model = *std::move(known);
    }
  }

  const Settings& settings_;
  Reading reading_;
};

}  // namespace

Reading read_foundry(const Settings& settings, const describe::DataStore& data) {
  return Foundry(settings).read(data);
}

}  // namespace sextant::emit
