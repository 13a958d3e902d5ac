// What `sextant config show` and `sextant doctor` say.
#pragma once

#include <string>
#include <vector>

#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

struct SettingRow {
  std::string name;
  std::string value;
  std::string origin;
  std::string allowed;
  std::string meaning;
};

struct ConfigAnswer {
  std::vector<SettingRow> settings;
  bool with_origin = false;
  Provenance provenance;
};
std::string to_text(const ConfigAnswer& answer, const Style& style);

struct Check {
  std::string what;
  bool passed = false;
  std::string detail;
};

struct DoctorAnswer {
  std::vector<Check> checks;
  Provenance provenance;
};
std::string to_text(const DoctorAnswer& answer, const Style& style);

}  // namespace sextant::explain
