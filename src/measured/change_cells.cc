#include "measured/change_cells.h"

#include <utility>
#include <vector>

#include "base/text.h"

namespace sextant::measured {
namespace {

constexpr double kMostEffect = 1e6;  // per cent

Trust trust_of_change(Cells& cells) {
  const auto word = cells.word("trust", std::vector<std::string>{"A", "B", "C"});
  return !word || *word == "B" ? Trust::kB : *word == "A" ? Trust::kA : Trust::kC;
}

// Memory may more than double; nothing gets slower than to a halt.
std::optional<double> effect_of(Cells& cells, bool speed) {
  const std::string_view text = cells.text("effect_pct");
  if (text.empty()) {
    return std::nullopt;
  }
  const auto per_cent = to_double(text);
  const double least = speed ? -100.0 : -kMostEffect;
  if (!per_cent || *per_cent <= least || *per_cent > kMostEffect) {
    cells.reject("effect_pct", "out of range",
                 "per cent: of speed above -100, at most 1e6, or empty");
    return std::nullopt;
  }
  return *per_cent / 100.0;
}

}  // namespace

Result<ChangeCells> read_change_cells(Cells cells) {
  ChangeCells change;
  change.id = cells.has("id") ? std::string(cells.text("id")) : cells.line_id();
  for (const auto& [column, text] :
       {std::pair<std::string_view, std::string_view*>{"source_title", &change.title},
        {"source_url_or_repo_path", &change.address},
        {"date", &change.date},
        {"model", &change.model},
        {"device", &change.device},
        {"network", &change.network},
        {"framework", &change.framework},
        {"before", &change.before},
        {"after", &change.after},
        {"change_kind", &change.kind},
        {"metric", &change.metric},
        {"conditions", &change.conditions},
        {"layers", &change.layers},
        {"hidden", &change.hidden},
        {"heads", &change.heads},
        {"kv_heads", &change.kv_heads},
        {"ffn", &change.ffn},
        {"vocab", &change.vocab},
        {"experts", &change.experts},
        {"topk", &change.topk},
        {"seq", &change.seq},
        {"gbs", &change.batch},
        {"devices", &change.devices}}) {
    *text = cells.text(column);
  }
  change.trust = trust_of_change(cells);
  change.effect = effect_of(cells, is_speed(change));
  SEXTANT_CHECK_OK(cells.ok());
  return change;
}

bool is_speed(const ChangeCells& change) {
  return is_one_of(change.metric, {"step_time_s", "tokens_per_s_per_device", "tokens_per_s",
                                   "mfu_pct", "tflops_per_device", "relative_speed"});
}

}  // namespace sextant::measured
