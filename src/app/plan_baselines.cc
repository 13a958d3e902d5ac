#include "app/plan_baselines.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "search/baselines/alpa.h"
#include "search/baselines/baselines.h"

namespace sextant::app {
namespace {

enum class Baseline { kRule, kAlpa, kExhaustive, kRandom, kBlackBox };
constexpr std::array<describe::Word<Baseline>, 5> kBaselineWords{
    {{Baseline::kRule, "megatron-rule"},
     {Baseline::kAlpa, "alpa"},
     {Baseline::kExhaustive, "exhaustive"},
     {Baseline::kRandom, "random"},
     {Baseline::kBlackBox, "black-box"}}};

constexpr std::int64_t kSamples = 10'000;
constexpr std::uint64_t kSeed = 1;

search::BaselineResult asked(Baseline which, const search::Problem& problem) {
  switch (which) {
    case Baseline::kRule:
      return search::megatron_rule(problem);
    case Baseline::kAlpa: {
      const search::AlpaResult result = search::alpa(problem, search::Submeshes::kEvery);
      return {result.plan, result.calls};
    }
    case Baseline::kExhaustive:
      return search::exhaustive(search::Space(problem));
    case Baseline::kRandom:
      return search::random_layouts(search::Space(problem), kSamples, kSeed);
    case Baseline::kBlackBox:
      break;
  }
  return search::black_box(problem);
}

}  // namespace

Result<std::vector<explain::PlanBaseline>> plan_baselines(const PlanProblem& of,
                                                          const std::string& names) {
  std::vector<explain::PlanBaseline> list;
  for (const std::string_view name : split(names, ',')) {
    SEXTANT_TRY(const Baseline which,
                describe::parse_word<Baseline>(kBaselineWords, name, "baseline", "--baselines"));
    const search::BaselineResult result = asked(which, of.problem);
    explain::PlanBaseline row;
    row.name = name;
    row.calls = result.calls;
    if (result.plan) {
      row.words = describe::to_text(result.plan->layout);
      row.step = result.plan->time.step;
    }
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace sextant::app
