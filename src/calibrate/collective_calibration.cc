#include "calibrate/collective_calibration.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "calibrate/comm_calls.h"

namespace sextant::calibrate {
namespace {

// Drops classes with too few timings; gives the rows that were calls.
std::int64_t leave_out_classes(CommCalls& calls, Unused& unused) {
  std::int64_t rows = 0;
  for (const bool links : {true, false}) {
    auto& classes = links ? calls.links : calls.networks;
    for (auto& [id, timed] : classes) {
      rows += static_cast<std::int64_t>(timed.size());
      leave_out_few("of " + CommFile{links, id}.path(), timed, unused);
    }
    std::erase_if(classes, [](const auto& entry) { return entry.second.empty(); });
  }
  return rows;
}

std::int64_t rows_of_collectives(const std::vector<measured::Row>& rows) {
  return std::ranges::count_if(rows, [](const measured::Row& row) {
    return std::holds_alternative<measured::CollectiveSubject>(row.subject);
  });
}

}  // namespace

Result<CommCalibration> collective_calibration(const Inputs& files,
                                               const describe::DataStore& data) {
  CommCalls calls = comm_calls(files.rows, data);
  Unused unused;
  const auto used = leave_out_classes(calls, unused);
  if (const auto others = rows_of_collectives(files.rows) - used; others > 0) {
    unused["not healthy, of trust C, or of a system that is not known (validate says which)"] +=
        others;
  }
  if (calls.links.empty() && calls.networks.empty()) {
    return invalid("no class of links or networks has three usable timings" + unused_text(unused),
                   files.names, "rows with hardware, links, ranks, bytes and time_us");
  }
  SEXTANT_TRY(const std::vector<CommClassFit> fits,
              fit_comm_classes(calls, data, quotable(files.names)));
  CommCalibration made;
  for (const CommClassFit& fit : fits) {
    const CommFile file = comm_file(fit.file);
    const auto& timed = (file.links ? calls.links : calls.networks)[file.id];
    const CommRewrite rewrite{fit.text, fit.fit.timings};
    SEXTANT_TRY(CommChange change, comm_change(file, rewrite, timed, data));
    add_change(std::move(change), made);
  }
  put_inputs(files, data, made);
  made.unused.assign(unused.begin(), unused.end());
  return made;
}

}  // namespace sextant::calibrate
