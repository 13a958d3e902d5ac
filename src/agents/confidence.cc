#include "agents/confidence.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "describe/toml_table.h"

namespace sextant::agents {
namespace {

constexpr std::string_view kConfidenceFile = "agents/confidence.toml";
constexpr std::int64_t kMostProposed = 1'000'000;
// Of fewer nobody can tell how often.
constexpr std::int64_t kFewestProposed = 10;

// A class of differences that is one change to a layout which keeps its mesh.
bool is_one_setting(std::string_view spread_class) {
  constexpr std::array<std::string_view, 7> kSettings{
      "sharding", "micro-batch", "recompute", "precision", "kernels", "overlap", "one-change"};
  for (const std::string_view one : kSettings) {
    if (spread_class == one) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string confidence_kind(const verify::Verdict& verdict) {
  if (!verdict.speed || verdict.speed->speed <= 1.0) {
    return {};
  }
  return fmt::format("{}-{}", verdict.speed->low > 1.0 ? "beyond" : "within",
                     is_one_setting(verdict.speed->spread_class) ? "setting" : "mesh");
}

Result<ConfidenceBook> ConfidenceBook::parse(std::string_view text, std::string_view where) {
  SEXTANT_TRY(const describe::TomlTable top, describe::TomlTable::parse(text, where));
  ConfidenceBook book;
  for (const std::string& kind : top.keys()) {
    static constexpr std::array<std::string_view, 2> kKeys{"faster", "proposed"};
    SEXTANT_TRY(const describe::TomlTable one, top.table(kind));
    SEXTANT_CHECK_OK(one.only(kKeys));
    SEXTANT_TRY(const auto faster, one.sourced<double>("faster", parse_ratio));
    if (faster.value > 1.0) {
      return invalid(fmt::format("{} of the proposals are faster", faster.value),
                     one.where("faster"), "0 ratio to 1 ratio");
    }
    MeasuredConfidence measured{.share = faster.value, .source = faster.source};
    SEXTANT_TRY(measured.proposed, one.integer("proposed", 0, kMostProposed));
    book.kinds_.emplace(kind, std::move(measured));
  }
  return book;
}

Result<ConfidenceBook> ConfidenceBook::load(const describe::DataStore& data) {
  SEXTANT_TRY(const std::string text, data.read(kConfidenceFile));
  return parse(text, data.where(kConfidenceFile));
}

std::optional<double> ConfidenceBook::of(const verify::Verdict& verdict) const {
  const auto found = kinds_.find(confidence_kind(verdict));
  return found == kinds_.end() || found->second.proposed < kFewestProposed
             ? std::nullopt
             : std::optional(found->second.share);
}

}  // namespace sextant::agents
