// What was taken where nobody said: a value that travels from where it is decided to the answer.
#pragma once

#include <string>
#include <vector>

namespace sextant::describe {

struct Assumption {
  std::string key;     // what it is about: a layout key, "seq", "host", "network"
  std::string value;   // what was taken: "4096", "as fast as the measured one"
  std::string why;     // the rule that took it: "not given: …", "torchtitan default"
  std::string source;  // where that is known from: a file of data/, code, a paper; "" where the
                       // rule is this program's own
  bool operator==(const Assumption&) const = default;
};
using Assumptions = std::vector<Assumption>;

// For people: "seq=4096 (not given …)", "host: as fast as the measured one".
std::string to_text(const Assumption& assumption);
// Those texts, joined by "; ".
std::string to_text(const Assumptions& assumptions);

// Adds what is not there yet.
void add_once(const Assumptions& from, Assumptions& into);

}  // namespace sextant::describe
