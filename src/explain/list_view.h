// Lists of what there is to choose from: names, a line each, and the catalogue of hardware.
#pragma once

#include <string>
#include <vector>

#include "explain/style.h"

namespace sextant::explain {

struct WordsAnswer {
  std::vector<std::string> words;
};
// A line each, whatever the style: for shells.
std::string to_text(const WordsAnswer& answer, const Style& style);

struct HardwareAnswer {
  struct Entry {
    std::string kind;  // device, system, fabric
    std::string id;
    std::string name;
    std::vector<std::string> aliases;
  };
  std::vector<Entry> entries;
};
std::string to_text(const HardwareAnswer& answer, const Style& style);

}  // namespace sextant::explain
