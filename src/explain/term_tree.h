// A number and what it is made of: the tree of terms that every explanation shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

struct Term {
  std::string name;     // "activations"
  std::string value;    // "12.6 GiB"
  double number = 0.0;  // the value in `unit`
  std::string unit;     // "bytes", "flop", "count"
  std::string formula;  // with the numbers put in: "8 in flight × 10 layers × 160 MiB"
  std::string page;     // where the formula is explained: "docs/models/memory.md#activations"
  std::vector<Term> parts;
};

// A term of bytes, with neither formula nor parts yet.
Term bytes_term(std::string name, Bytes bytes);

struct TreeAnswer {
  Term root;
  Provenance provenance;
};
// An indented tree (text, Markdown) or {"schema": "sextant.explain/1", …, "tree": {…}}. CSV: a line
// a term, with its depth.
std::string to_text(const TreeAnswer& answer, const Style& style);

}  // namespace sextant::explain
