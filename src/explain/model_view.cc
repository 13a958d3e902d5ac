#include "explain/model_view.h"

#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/json.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using describe::Attention;
using describe::Block;
using describe::DenseFfn;
using describe::GatedDeltaNet;
using describe::LatentAttention;
using describe::Mamba2;
using describe::Model;
using describe::MoeFfn;

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

std::string mixer_text(const Block& block) {
  return std::visit(
      Overloaded{
          [](std::monostate) { return std::string("-"); },
          [](const Attention& a) {
            return fmt::format("attention {}/{} heads x {}{}", a.heads, a.kv_heads, a.head_dim,
                               a.window > 0 ? fmt::format(", window {}", a.window) : "");
          },
          [](const LatentAttention& a) {
            return fmt::format("MLA {} heads, q {} kv {} latent", a.heads, a.q_lora_rank,
                               a.kv_lora_rank);
          },
          [](const Mamba2& m) {
            return fmt::format("Mamba-2 {} heads x {}, state {}", m.heads, m.head_dim, m.state);
          },
          [](const GatedDeltaNet& g) {
            return fmt::format("DeltaNet {}/{} heads x {}", g.key_heads, g.value_heads,
                               g.value_head_dim);
          },
      },
      block.mixer);
}

std::string ffn_text(const Block& block) {
  return std::visit(Overloaded{
                        [](std::monostate) { return std::string("-"); },
                        [](const DenseFfn& f) {
                          return fmt::format("{} {}", f.gated ? "gated MLP" : "MLP", f.width);
                        },
                        [](const MoeFfn& m) {
                          return fmt::format("MoE {} of {} x {}{}", m.topk, m.experts, m.width,
                                             m.shared_width > 0
                                                 ? fmt::format(" + shared {}", m.shared_width)
                                                 : "");
                        },
                    },
                    block.ffn);
}

std::vector<std::int64_t> layers_of_blocks(const Model& model) {
  std::vector<std::int64_t> counts(model.blocks.size(), 0);
  for (const int block : model.layers) {
    counts[static_cast<std::size_t>(block)] += 1;
  }
  return counts;
}

Json block_json(const ModelAnswer& answer, std::size_t i, std::int64_t layers) {
  const describe::BlockParameters& p = answer.parameters.blocks[i];
  const Block& block = answer.model.blocks[i];
  Json json;
  json["layers"] = layers;
  json["mixer"] = mixer_text(block);
  json["ffn"] = ffn_text(block);
  json["parameters_total"] = p.total();
  json["parameters_active"] = p.active();
  json["parameters_mixer"] = p.mixer;
  json["parameters_dense_ffn"] = p.dense_ffn;
  json["parameters_router"] = p.router;
  json["parameters_routed_experts"] = p.routed_experts;
  json["parameters_shared_experts"] = p.shared_experts;
  json["parameters_norms"] = p.norms;
  return json;
}

std::string model_json_text(const ModelAnswer& answer) {
  const Model& model = answer.model;
  const describe::ModelParameters& p = answer.parameters;
  Json json = document("model", answer.provenance);
  json["name"] = model.name;
  json["family"] = model.family;
  json["source"] = model.source;
  json["parameters_total"] = p.total();
  json["parameters_active"] = p.active();
  json["parameters_embedding"] = p.embedding;
  json["parameters_positions"] = p.positions;
  json["parameters_head"] = p.head;
  json["parameters_final_norm"] = p.final_norm;
  json["parameters_mtp"] = p.mtp;
  json["layers"] = model.layer_count();
  json["hidden"] = model.hidden;
  json["vocabulary"] = model.vocab;
  json["tied_head"] = model.tied_head;
  json["max_positions"] = model.max_positions > 0 ? Json(model.max_positions) : Json(nullptr);
  json["mtp_layers"] = model.mtp_layers;
  json["blocks"] = Json::array();
  const std::vector<std::int64_t> counts = layers_of_blocks(model);
  for (std::size_t i = 0; i < model.blocks.size(); ++i) {
    json["blocks"].push_back(block_json(answer, i, counts[i]));
  }
  json["assumed"] = to_json(model.assumed);
  return dumped(json);
}

Table block_table(const ModelAnswer& answer) {
  const Model& model = answer.model;
  const describe::ModelParameters& p = answer.parameters;
  Table table{{{"part"},
               {"layers", true},
               {"parameters each", true},
               {"active each", true},
               {"parameters", true}},
              {}};
  const auto single = [&](const char* name, std::int64_t count) {
    if (count > 0) {
      table.rows.push_back({name, "", "", "", with_thousands(count)});
    }
  };
  single("embedding", p.embedding);
  single("learned positions", p.positions);
  const std::vector<std::int64_t> counts = layers_of_blocks(model);
  for (std::size_t i = 0; i < model.blocks.size(); ++i) {
    const describe::BlockParameters& each = p.blocks[i];
    if (counts[i] == 0) {
      continue;  // used by multi-token prediction only
    }
    const std::string mixer = mixer_text(model.blocks[i]);
    const std::string ffn = ffn_text(model.blocks[i]);
    const std::string both = fmt::format("{}; {}", mixer, ffn);
    const std::string& part = ffn == "-" ? mixer : (mixer == "-" ? ffn : both);
    table.rows.push_back({part, with_thousands(counts[i]), with_thousands(each.total()),
                          with_thousands(each.active()), with_thousands(each.total() * counts[i])});
  }
  single("final norm", p.final_norm);
  single("output head", p.head);
  single("multi-token prediction (not in the total)", p.mtp);
  return table;
}

}  // namespace

std::string to_text(const ModelAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return model_json_text(answer);
  }
  const Table table = block_table(answer);
  if (style.format == Format::kCsv) {
    return to_text(table, style);
  }
  const Model& model = answer.model;
  std::string text = fmt::format("{}: {} parameters, {} active a token\n", bold(model.name, style),
                                 with_thousands(answer.parameters.total()),
                                 with_thousands(answer.parameters.active()));
  text += fmt::format(
      "{} layers, hidden {}, vocabulary {}{}{}\n\n", model.layer_count(), model.hidden, model.vocab,
      model.tied_head ? " (head tied)" : "",
      model.max_positions > 0 ? fmt::format(", up to {} positions", model.max_positions) : "");
  text += to_text(table, style);
  text += fmt::format("\n{}\n", dim("source: " + model.source, style));
  for (const describe::Assumption& line : model.assumed) {
    text += fmt::format("assumed: {}\n", describe::to_text(line));
  }
  return text;
}

}  // namespace sextant::explain
