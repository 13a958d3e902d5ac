// Parts of a plan's answer: included by explain's .cc files only.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/plan_view.h"
#include "explain/style.h"

namespace sextant::explain {

std::string plan_json(const PlanAnswer& answer);

// Sections of the text, each "" where there is nothing to say.
// Lines of the head, by name: what recommending gives up, and the fastest.
std::vector<std::pair<std::string_view, std::string>> recommending_lines(const PlanAnswer& answer);
std::string winner_text(const PlanAnswer& answer, const Style& style);
std::string bounds_text(const search::PlanRow& best, const Style& style);
std::string shifts_text(const PlanAnswer& answer, const Style& style);
std::string plans_text(const PlanAnswer& answer, const Style& style);
std::string front_text(const PlanAnswer& answer, const Style& style);
std::string why_not_text(const PlanAnswer& answer, const Style& style);
std::string path_text(const PlanAnswer& answer, const Style& style);
std::string counts_text(const PlanAnswer& answer, const Style& style);
std::string freed_text(const PlanAnswer& answer, const Style& style);
std::string none_text(const PlanAnswer& answer, const Style& style);
std::string search_text(const PlanAnswer& answer);
std::string baselines_text(const PlanAnswer& answer, const Style& style);
std::string proof_text(const PlanAnswer& answer);

// "tp 4 · pp 4 × 7 chunks · dp 4 · micro-batch 1 · …": a layout for people.
std::string layout_phrase(const search::PlanRow& row);

// "15.6 T", "886", "47 k": three digits and a letter.
std::string short_number(double value);
// "12.3 ms", signed: "+12.3 ms".
std::string signed_text(Seconds time);

// What a reason of search/ is in words.
std::vector<std::string> violation_texts(const std::vector<describe::Violation>& broken);
// "tp=8, but tp=4 is fixed".
std::string outside_text(const search::Outside& outside);
// "recompute freed: tp=8,mbs=1 needs 61 GiB of 75 GiB".
std::vector<std::string> remedy_texts(const std::vector<search::Remedy>& changes);

}  // namespace sextant::explain
