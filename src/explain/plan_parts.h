// Parts of a plan's answer: included by explain's .cc files only.
#pragma once

#include <string>

#include "explain/plan_view.h"
#include "explain/style.h"

namespace sextant::explain {

std::string plan_json(const PlanAnswer& answer);

// Sections of the text, each "" where there is nothing to say.
std::string winner_text(const PlanAnswer& answer, const Style& style);
std::string bounds_text(const PlanRow& best, const Style& style);
std::string shifts_text(const PlanAnswer& answer, const Style& style);
std::string plans_text(const PlanAnswer& answer, const Style& style);
std::string front_text(const PlanAnswer& answer, const Style& style);
std::string why_not_text(const PlanAnswer& answer, const Style& style);
std::string path_text(const PlanPath& path, const Style& style);
std::string counts_text(const PlanAnswer& answer, const Style& style);
std::string freed_text(const PlanAnswer& answer, const Style& style);
std::string none_text(const PlanAnswer& answer, const Style& style);
std::string search_text(const PlanAnswer& answer);
std::string baselines_text(const PlanAnswer& answer, const Style& style);
std::string proof_text(const PlanAnswer& answer);

// "15.6 T", "886", "47 k": three digits and a letter.
std::string short_number(double value);
// "12.3 ms", signed: "+12.3 ms".
std::string signed_text(Seconds time);

}  // namespace sextant::explain
