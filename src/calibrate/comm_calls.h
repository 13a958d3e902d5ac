// Measured collectives as the fit of links and networks takes them.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/calibrate/comm_fit.h"
#include "describe/data_store.h"
#include "measured/row.h"

namespace sextant::calibrate {

// By file of data/comm: "nvlink4" for groups inside one domain, "ib" for groups over several.
struct CommCalls {
  std::map<std::string, std::vector<cost::TimedCollective>> links;
  std::map<std::string, std::vector<cost::TimedCollective>> networks;
};

// Healthy rows with a time or a bandwidth that the model can be asked about, of trust A or B.
CommCalls comm_calls(const std::vector<measured::Row>& rows, const describe::DataStore& data);

// Each once.
std::set<std::string> systems_of(std::span<const cost::TimedCollective> calls);

// A file of data/comm with the fitted values in place of its own.
struct CommClassFit {
  std::string file;  // "comm/links/nvlink4.toml"
  std::int64_t timings = 0;
  std::int64_t systems = 0;
  cost::CommFit fit;
  std::string text;
};
Result<std::vector<CommClassFit>> fit_comm_classes(const CommCalls& calls,
                                                   const describe::DataStore& data,
                                                   const std::string& source);

// Every system predicted from a fit on the others of its class: its errors, and those with it.
struct LeftOutSystem {
  std::string file;
  std::string system;
  std::vector<Bytes> sizes;
  std::vector<double> seen;    // |predicted / measured − 1| with the constants of data/comm
  std::vector<double> unseen;  // with those fitted on the others
};
// Classes of one system are left out: nothing else tells of them.
Result<std::vector<LeftOutSystem>> leave_systems_out(const CommCalls& calls,
                                                     const describe::DataStore& data);

}  // namespace sextant::calibrate
