// How sure a proposal is: how often the first proposal of its kind turned out faster where both
// layouts were measured (data/agents/confidence.toml; the test that measures it writes that file).
//
// Kinds: is the predicted gain beyond the interval of the difference or within it, and does one
// thing change (micro-batch, recomputation, …), or the mesh or several things? A proposal that is
// no layout, or is predicted slower, has none: such were never measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "describe/data_store.h"
#include "verify/verdict.h"

namespace sextant::agents {

// "beyond, one-change", "within, several-changes"; "": of no kind.
std::string confidence_kind(const verify::Verdict& verdict);

struct MeasuredConfidence {
  double share = 0.0;         // of the first proposals, that were measured faster
  std::int64_t proposed = 0;  // first proposals of the kind
  std::string source;
};

class ConfidenceBook {
 public:
  // An Error names file, line and key.
  static Result<ConfidenceBook> load(const describe::DataStore& data);
  static Result<ConfidenceBook> parse(std::string_view text, std::string_view where);

  // Nothing where its kind was not measured often enough.
  [[nodiscard]] std::optional<double> of(const verify::Verdict& verdict) const;
  [[nodiscard]] const std::map<std::string, MeasuredConfidence, std::less<>>& kinds() const {
    return kinds_;
  }

 private:
  std::map<std::string, MeasuredConfidence, std::less<>> kinds_;
};

}  // namespace sextant::agents
