#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/model/load_model.h"
#include "describe/model/parameters.h"
#include "emit/megatron_meaning.h"

namespace sextant::emit {
namespace {

using describe::Attention;
using describe::Block;
using describe::BlockParameters;
using describe::LatentAttention;
using describe::Model;
using describe::MoeFfn;

bool same_mixer(const Block& a, const Block& b) {
  if (const auto* one = std::get_if<Attention>(&a.mixer)) {
    const auto* other = std::get_if<Attention>(&b.mixer);
    return other != nullptr && one->heads == other->heads && one->kv_heads == other->kv_heads &&
           one->head_dim == other->head_dim && one->window == other->window &&
           one->rotary == other->rotary && one->qk_norm == other->qk_norm;
  }
  if (const auto* one = std::get_if<LatentAttention>(&a.mixer)) {
    const auto* other = std::get_if<LatentAttention>(&b.mixer);
    return other != nullptr && one->heads == other->heads &&
           one->qk_nope_head_dim == other->qk_nope_head_dim &&
           one->v_head_dim == other->v_head_dim && one->indexer.topk == other->indexer.topk;
  }
  return a.mixer.index() == b.mixer.index();
}

bool same_ffn(const Block& a, const Block& b) {
  if (const auto* one = std::get_if<MoeFfn>(&a.ffn)) {
    const auto* other = std::get_if<MoeFfn>(&b.ffn);
    return other != nullptr && one->experts == other->experts && one->topk == other->topk &&
           one->width == other->width && one->gated == other->gated &&
           std::max<std::int64_t>(one->groups, 1) == std::max<std::int64_t>(other->groups, 1);
  }
  return a.ffn.index() == b.ffn.index();
}

bool same_block(const Model& a, const Block& of_a, const Model& b, const Block& of_b) {
  const BlockParameters one = describe::block_parameters(a, of_a);
  const BlockParameters other = describe::block_parameters(b, of_b);
  return same_mixer(of_a, of_b) && same_ffn(of_a, of_b) && one.mixer == other.mixer &&
         one.dense_ffn == other.dense_ffn && one.router == other.router &&
         one.routed_experts == other.routed_experts && one.shared_experts == other.shared_experts &&
         one.norms == other.norms && of_a.parallel_residual == of_b.parallel_residual;
}

const Block& block_of(const Model& model, std::size_t layer) {
  return model.blocks[static_cast<std::size_t>(model.layers[layer])];
}

// Everything but the vocabulary.
bool same_layers(const Model& a, const Model& b) {
  if (a.hidden != b.hidden || a.layers.size() != b.layers.size() || a.tied_head != b.tied_head ||
      a.learned_positions != b.learned_positions || a.mtp_layers != b.mtp_layers ||
      a.norm.subtracts_mean != b.norm.subtracts_mean || a.head_bias != b.head_bias ||
      a.embedding_norm != b.embedding_norm || a.final_norm != b.final_norm) {
    return false;
  }
  std::pair<int, int> last{-1, -1};
  for (std::size_t layer = 0; layer < a.layers.size(); ++layer) {
    const std::pair<int, int> now{a.layers[layer], b.layers[layer]};
    if (now != last && !same_block(a, block_of(a, layer), b, block_of(b, layer))) {
      return false;
    }
    last = now;
  }
  return a.mtp_layers == 0 || same_block(a, a.blocks[static_cast<std::size_t>(a.mtp_block)], b,
                                         b.blocks[static_cast<std::size_t>(b.mtp_block)]);
}

// The number behind one of these keys in a configuration's text.
std::optional<std::int64_t> number_of(std::string_view config,
                                      std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    const std::string quoted = fmt::format("\"{}\":", key);
    const std::size_t at = config.find(quoted);
    if (at == std::string_view::npos) {
      continue;
    }
    std::string_view rest = config.substr(at + quoted.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    return to_integer(rest.substr(0, rest.find_first_not_of("0123456789")));
  }
  return std::nullopt;
}

// Could the configuration be of this shape? Its sizes stand in the text, so most of the catalogue
// need not be read.
bool may_be(std::string_view config, const Model& shape) {
  constexpr std::array<std::string_view, 3> kHidden{"hidden_size", "n_embd", "d_model"};
  constexpr std::array<std::string_view, 3> kLayers{"num_hidden_layers", "n_layer", "num_layers"};
  const auto hidden = number_of(config, kHidden);
  const auto layers = number_of(config, kLayers);
  return (!hidden || *hidden == shape.hidden) && (!layers || *layers == shape.layer_count());
}

struct Config {
  std::string name;
  std::string text;
};

std::vector<Config> read_configs(const describe::DataStore& data) {
  std::vector<Config> configs;
  for (const std::string& name : describe::catalogue_names(data)) {
    if (auto text = data.read(fmt::format("models/{}.json", name))) {
      configs.push_back({name, *std::move(text)});
    }
  }
  return configs;
}

// The catalogue's models that may have the shape.
std::vector<Model> candidates(const Model& shape, const describe::DataStore& data) {
  static const std::vector<Config> kEmbedded = read_configs(describe::DataStore{});
  std::vector<Model> models;
  const auto add = [&](const std::vector<Config>& configs) {
    for (const Config& config : configs) {
      if (!may_be(config.text, shape)) {
        continue;
      }
      if (auto model = describe::load_model(config.name, data)) {
        models.push_back(*std::move(model));
      }
    }
  };
  if (data.override_folder()) {
    add(read_configs(data));
  } else {
    add(kEmbedded);
  }
  return models;
}

}  // namespace

bool same_shape(const Model& a, const Model& b) {
  return a.vocab == b.vocab && same_layers(a, b);
}

std::optional<Model> catalogue_model(const Model& shape, const describe::DataStore& data) {
  if (!describe::check_size(shape) && shape.vocab > 0) {
    return std::nullopt;
  }
  const Model* found = nullptr;
  const std::vector<Model> models = candidates(shape, data);
  for (const Model& model : models) {
    const bool vocab = shape.vocab == 0 || std::abs(shape.vocab - model.vocab) <= 1;
    if (!vocab || !same_layers(shape, model)) {
      continue;
    }
    if (found == nullptr || (found->max_positions != shape.max_positions &&
                             model.max_positions == shape.max_positions)) {
      found = &model;
    }
  }
  return found == nullptr ? std::nullopt : std::optional(*found);
}

}  // namespace sextant::emit
