// A file of data/comm as a calibration sees it: what it says now, and its text with fitted values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/calibrate/comm_fit.h"
#include "describe/data_store.h"

namespace sextant::calibrate {

struct CommFile {
  bool links = true;  // of the links inside a domain, else of the network between domains
  std::string id;     // "nvlink4"
  [[nodiscard]] std::string path() const;  // "comm/links/nvlink4.toml"
};
// The file with that path. REQUIRES: path as CommFile::path writes it.
CommFile comm_file(std::string_view path);

struct CommValue {
  std::string key;      // "simple.hop"
  std::string written;  // "22.22 us", as the file has it
  double number = 0.0;  // SI units
};
struct CommContent {
  std::string name;               // "NVLink 4, NVSwitch"
  std::vector<CommValue> values;  // in the order of describe::kLinkKeys or kNetworkKeys
  [[nodiscard]] std::vector<double> numbers() const;
};

// What a text of such a file says. An Error where a value is missing or cannot be read; the whole
// file is checked by describe::load_link_facts and load_network_facts.
Result<CommContent> comm_content(const CommFile& file, std::string_view text,
                                 std::string_view where);
// What the file says now.
Result<CommContent> comm_content(const CommFile& file, const describe::DataStore& data);

struct CommRefit {
  cost::CommFit fit;
  std::string made;    // "from 36 timings of nccl.txt …": of the file's first comment, one line
  std::string source;  // "nccl.txt, 3.1 % left": whose timings, and how well they are met
  std::string device = {};  // whose links they are, where the file stands for devices not measured
};
// The file as it is now but for the values that the fit moved: these are "fitted", with the number
// of timings that speak of them and `source`. The comment of an earlier calibration goes.
Result<std::string> refitted_text(const CommFile& file, const CommRefit& refit,
                                  const describe::DataStore& data);

// Text that is safe between TOML's quotes and in its comments: on one line, ' and / in place of
// " and \.
std::string quotable(std::string_view text);

}  // namespace sextant::calibrate
