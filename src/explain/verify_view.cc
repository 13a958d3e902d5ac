#include "explain/verify_view.h"

#include "explain/judged_json.h"
#include "explain/tune_sections.h"

namespace sextant::explain {
namespace {

std::string verify_json(const VerifyAnswer& answer) {
  Json json = document("verify", answer.provenance);
  json["proposal"] = judged_json(answer.judged);
  json["assumed"] = to_json(answer.assumed);
  return dumped(json);
}

}  // namespace

std::string to_text(const VerifyAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return verify_json(answer);
  }
  return tune_proposal_text("judged", answer.judged, /*verbose=*/true, style);
}

}  // namespace sextant::explain
