// Tables of a diagnosis; each with its rows in the answer's order, cut at `rows`.
#pragma once

#include "explain/diagnose_view.h"
#include "explain/text_table.h"

namespace sextant::explain {

struct DiagnoseTableStyle {
  std::size_t rows = 4;
  bool people = true;       // rounded, with units in words; else as CSV has them
  std::size_t width = 100;  // of a line, for people
};

Table breakdown_table(const DiagnoseAnswer& answer, bool people, bool bars);
Table top_operators_table(const DiagnoseAnswer& answer, const DiagnoseTableStyle& style);
Table top_kernels_table(const DiagnoseAnswer& answer, const DiagnoseTableStyle& style);
Table collectives_table(const DiagnoseAnswer& answer, const DiagnoseTableStyle& style);
// Worst first: those whose own time, all but exposed communication, is longest. What is left out
// stands between the worst and the best.
Table worst_ranks_table(const DiagnoseAnswer& answer, const DiagnoseTableStyle& style);
Table ranges_table(const DiagnoseAnswer& answer, const DiagnoseTableStyle& style);
Table steps_table(const DiagnoseAnswer& answer, const DiagnoseTableStyle& style);

}  // namespace sextant::explain
