// Which layers have experts: each family's rule over its own fields.
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/model/hf_layers.h"

namespace sextant::describe {
namespace {

Result<std::vector<bool>> first_dense_experts(HfFields& fields, std::int64_t layers) {
  std::vector<bool> experts;
  SEXTANT_TRY(const auto types, fields.layer_words("mlp_layer_types", layers));
  for (const std::string& type : types) {
    if (type != "dense" && type != "sparse") {
      return invalid(fmt::format("'{}' is no kind of layer", printable(type)),
                     fields.where("mlp_layer_types"), "dense, sparse");
    }
    experts.push_back(type == "sparse");
  }
  if (!experts.empty()) {
    return experts;
  }
  SEXTANT_TRY(const std::int64_t dense,
              fields.integer_or("first_k_dense_replace", kLayerIndices, 0));
  const auto stated = fields.stated("moe_layer_freq");
  if (stated && stated->kind() == JsonValue::Kind::kArray) {
    SEXTANT_TRY(const auto each, fields.integers("moe_layer_freq", {0, 1}));
    if (std::cmp_not_equal(each.size(), layers)) {
      return invalid(fmt::format("has {} elements", each.size()), stated->where(),
                     fmt::format("one for each of the {} layers", layers));
    }
    for (const std::int64_t one : each) {
      experts.push_back(one == 1);
    }
    return experts;
  }
  SEXTANT_TRY(const std::int64_t step, fields.integer_or("moe_layer_freq", kLayerCounts, 1));
  experts.reserve(static_cast<std::size_t>(layers));
  for (std::int64_t i = 0; i < layers; ++i) {
    experts.push_back(i >= dense && i % step == 0);
  }
  return experts;
}

Result<std::vector<bool>> sparse_step_experts(HfFields& fields, std::int64_t layers) {
  SEXTANT_TRY(const std::int64_t step, fields.integer_or("decoder_sparse_step", kLayerCounts, 1));
  SEXTANT_TRY(const auto dense, fields.integers("mlp_only_layers", kLayerIndices));
  std::vector<bool> experts;
  experts.reserve(static_cast<std::size_t>(layers));
  for (std::int64_t i = 0; i < layers; ++i) {
    experts.push_back((i + 1) % step == 0);
  }
  for (const std::int64_t layer : dense) {
    if (layer < layers) {
      experts[static_cast<std::size_t>(layer)] = false;
    }
  }
  return experts;
}

Result<std::vector<bool>> interleaved_experts(HfFields& fields, std::int64_t layers) {
  SEXTANT_TRY(const auto listed, fields.integers("moe_layers", {0, layers - 1}));
  std::vector<bool> experts(static_cast<std::size_t>(layers), false);
  for (const std::int64_t layer : listed) {
    experts[static_cast<std::size_t>(layer)] = true;
  }
  if (listed.empty()) {
    SEXTANT_TRY(const std::int64_t step,
                fields.integer_or("interleave_moe_layer_step", kLayerCounts, 1));
    for (std::int64_t i = step - 1; i < layers; i += step) {
      experts[static_cast<std::size_t>(i)] = true;
    }
  }
  return experts;
}

Result<std::vector<bool>> interval_experts(HfFields& fields, std::int64_t layers) {
  SEXTANT_TRY(const std::int64_t start,
              fields.integer_or("moe_layer_start_index", kLayerIndices, 0));
  SEXTANT_TRY(const std::int64_t end,
              fields.integer_or("moe_layer_end_index", {-1, kLayerIndices.most}, -1));
  SEXTANT_TRY(const std::int64_t interval,
              fields.integer_or("moe_layer_interval", kLayerCounts, 1));
  std::vector<bool> experts;
  experts.reserve(static_cast<std::size_t>(layers));
  for (std::int64_t i = 0; i < layers; ++i) {
    experts.push_back((i + 1) % interval == 0 && i >= start && (end == -1 || i <= end));
  }
  return experts;
}

}  // namespace

Result<std::vector<bool>> expert_layers(HfFields& fields, const HfFamily& family,
                                        std::int64_t layers) {
  if (family.experts != HfExperts::kNone) {
    SEXTANT_TRY(const std::int64_t experts, fields.integer("num_experts", kExpertCounts));
    if (experts == 0) {
      return std::vector<bool>(static_cast<std::size_t>(layers), false);
    }
  }
  switch (family.experts) {
    case HfExperts::kFirstDense:
      return first_dense_experts(fields, layers);
    case HfExperts::kSparseStep:
      return sparse_step_experts(fields, layers);
    case HfExperts::kInterleave:
      return interleaved_experts(fields, layers);
    case HfExperts::kInterval:
      return interval_experts(fields, layers);
    case HfExperts::kNone:
    case HfExperts::kAll:
      break;
  }
  return std::vector<bool>(static_cast<std::size_t>(layers), family.experts == HfExperts::kAll);
}

}  // namespace sextant::describe
