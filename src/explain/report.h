// A diagnosis, or a comparison of two runs, as one HTML file that needs no other: for people to
// pass on. It asks the network for nothing and has no script.
#pragma once

#include <string>
#include <string_view>

#include "explain/diagnose_view.h"
#include "explain/diff_view.h"

namespace sextant::explain {

// `trace`: a Chrome trace for the reader to save, or "".
std::string report_html(const DiagnoseAnswer& answer, std::string_view trace = {});
std::string report_html(const DiffAnswer& answer);

}  // namespace sextant::explain
