#include "agents/case_wishes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/cluster/cluster.h"

namespace sextant::agents {
namespace {

constexpr std::size_t kMostCandidateBytes = 500;

}  // namespace

bool CaseWishes::allows(const CaseMesh& mesh) const {
  return std::ranges::all_of(pins,
                             [&mesh](const AxisPin& pin) { return mesh[pin.axis] == pin.size; });
}

Result<std::vector<AxisPin>> parse_axis_pins(std::string_view text, std::string_view where) {
  std::vector<AxisPin> pins;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string word(trimmed(part.substr(0, equals)));
    AxisPin pin;
    SEXTANT_TRY(pin.axis, describe::parse_word<CaseAxis>(kCaseAxisWords, word, "axis", where));
    const auto size = equals == std::string_view::npos
                          ? std::nullopt
                          : to_integer(trimmed(part.substr(equals + 1)));
    if (!size || *size < 1 || *size > describe::kMostDevices) {
      return invalid(fmt::format("'{}' says no size of {}", printable(part), word),
                     std::string(where), fmt::format("{}=1 to {}", word, describe::kMostDevices));
    }
    pin.size = *size;
    if (std::ranges::find(pins, pin.axis, &AxisPin::axis) != pins.end()) {
      return invalid(fmt::format("{} stands twice", word), std::string(where), "once");
    }
    pins.push_back(pin);
  }
  return pins;
}

Result<CaseMesh> parse_case_mesh(std::string_view text, std::string_view where) {
  SEXTANT_TRY(const std::vector<AxisPin> axes, parse_axis_pins(text, where));
  CaseMesh mesh;
  for (const AxisPin& axis : axes) {
    mesh[axis.axis] = axis.size;
  }
  return mesh;
}

Result<std::vector<Candidate>> read_candidates(std::string_view text, std::string_view where) {
  std::vector<Candidate> candidates;
  std::int64_t line = 0;
  for (const std::string_view whole : split(text, '\n')) {
    ++line;
    const std::string_view said = trimmed(whole.substr(0, whole.find('#')));
    std::string place = fmt::format("{}:{}", where, line);
    if (said.empty() || std::ranges::find(candidates, said, &Candidate::text) != candidates.end()) {
      continue;
    }
    if (said.size() > kMostCandidateBytes || candidates.size() == kMostCandidates) {
      return invalid(said.size() > kMostCandidateBytes
                         ? fmt::format("a line of {} bytes", said.size())
                         : fmt::format("more than {} choices", kMostCandidates),
                     std::move(place),
                     fmt::format("at most {} choices of at most {} bytes, one a line",
                                 kMostCandidates, kMostCandidateBytes));
    }
    candidates.push_back({std::string(said), std::move(place)});
  }
  if (candidates.empty()) {
    return invalid("there is nothing to choose among", std::string(where), "a layout a line");
  }
  return candidates;
}

}  // namespace sextant::agents
