#include "agents/case_models.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "verify/judge.h"

namespace sextant::agents {

namespace {

bool is_same_slice(const MeshSlice& one, const MeshSlice& other) {
  return one.chips == other.chips && one.topology == other.topology && one.device == other.device &&
         one.memory == other.memory;
}

}  // namespace

CaseModels CaseModels::of(const ShapeFacts& recorded, const MeshSlice& slice,
                          const MeshRuleBook& rules, const describe::DataStore& data) {
  CaseModels models;
  auto assumed = assumed_shapes(recorded, rules, data);
  auto spreads = describe::difference_spreads(data);
  if (!assumed || !spreads) {
    models.notes_.push_back("meshes are not priced: " +
                            to_text(assumed ? spreads.error() : assumed.error()));
    return models;
  }
  models.spreads_ = std::move(*spreads);
  const std::vector<CaseMesh> meshes = power_of_two_meshes(slice.chips);
  std::vector<std::string> names;
  for (AssumedShape& shape : assumed->shapes) {
    names.push_back(fmt::format("{} (step {:.0f} ms with {})", shape.model,
                                priced_mesh(shape, recorded.runs).step.base() * 1e3,
                                to_text(recorded.runs)));
    auto here = is_same_slice(recorded.slice, slice)
                    ? Result<AssumedShape>(std::move(shape))
                    : shape_on_slice(std::move(shape), slice, data);
    if (!here) {
      models.notes_.push_back("meshes are not priced: " + to_text(here.error()));
      models.shapes_.clear();
      return models;
    }
    std::vector<PricedMesh> priced = priced_meshes(*here, meshes);
    models.shapes_.push_back({std::move(*here), std::move(priced)});
  }
  if (!names.empty()) {
    models.notes_.push_back(fmt::format("assumed in the model's place: {}; {}", join(names, ", "),
                                        join(assumed->assumed, ", ")));
  }
  if (!assumed->why_fewer.empty()) {
    models.notes_.push_back(assumed->why_fewer);
  }
  return models;
}

std::string CaseModels::places(const CaseMesh& mesh) const {
  std::vector<std::string> places;
  for (const Shape& shape : shapes_) {
    const PricedMesh own = priced_mesh(shape.assumed, mesh);
    const auto place = rank_by_model(own, shape.priced);
    const std::string& model = shape.assumed.model;
    const std::int64_t fitting = std::ranges::count(shape.priced, true, &PricedMesh::fits);
    places.push_back(!own.legal ? fmt::format("not legal under {}", model)
                     : !place   ? fmt::format("does not fit under {}", model)
                                : fmt::format("place {} of {} ({} fit) under {}", *place,
                                              shape.priced.size(), fitting, model));
  }
  return join(places, ", ");
}

void CaseModels::judge(const CaseMesh& mesh, std::span<const kb::Entry> entries,
                       Judged& judged) const {
  constexpr std::size_t kLeast = 2;  // below two a claim cannot count
  verify::Verdict& verdict = judged.verdict;
  if (shapes_.size() < kLeast || !spreads_ || verdict.ruling != verify::Ruling::kUndecidable) {
    return;
  }
  std::vector<verify::Bench> benches;
  for (const Shape& shape : shapes_) {
    benches.push_back({.task = shape.assumed.task, .spreads = *spreads_, .entries = entries});
  }
  verify::Proposal priced = judged.proposal;
  priced.change.layout = shape_words(shapes_.front().assumed, mesh);
  const verify::Verdict together = verify::judge_among(priced, benches).together;
  verdict.claims = together.claims;
  verdict.citations = together.citations;
  const bool is_sure_to_fit = verdict.ground == verify::Ground::kClaims;
  if (is_sure_to_fit && together.stands()) {
    verdict.ruling = together.ruling;
    verdict.ground = together.ground;
    verdict.missing.clear();
    verdict.reason = fmt::format("{}; {}", verdict.reason, together.reason);
  }
  for (const verify::JudgedClaim& claim : verdict.claims) {
    if (claim.ruling == verify::ClaimRuling::kRefuted) {
      judged.proposal.trade_offs.push_back(fmt::format(
          "{}: the profile's operators say otherwise, so it is to be measured", claim.why));
    }
  }
}

}  // namespace sextant::agents
