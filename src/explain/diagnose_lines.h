// The lines of a diagnosis that are no table: what was read, which steps, where its time goes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "explain/diagnose_view.h"

namespace sextant::explain {

struct DiagnosisLine {
  std::string_view name;  // "step"
  std::string text;
};
// read, steps, step.
std::vector<DiagnosisLine> diagnosis_head(const DiagnoseAnswer& answer, const Style& style);
// idle, path, comm., use, memory.
std::vector<DiagnosisLine> diagnosis_state(const DiagnoseAnswer& answer);

// What may not be concluded, or "".
std::string scope_text(const DiagnoseAnswer& answer);

// Without its folders; the end tells most of a long one.
std::string short_file_name(std::string_view path);

}  // namespace sextant::explain
