// Nested values as programs print them into logs: JSON, Python dictionaries, Python objects
// ("Config(parallelism=ParallelismArgs(dp=2, tp=1), …)"). Read into dotted paths.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::emit {

struct LiteralField {
  std::string path;                 // "parallelism.dp"
  std::vector<std::string> values;  // several of a list; none is left out altogether
  std::size_t offset = 0;           // where the value begins in the text
};

// Every value that is not None. "<Mode.ALL_REDUCE: 1>" is "ALL_REDUCE", "torch.bfloat16" is
// "bfloat16". A text that breaks off, or is no such value, gives what came before that.
std::vector<LiteralField> literal_fields(std::string_view text);

// Follows brackets over lines, so that the end of a value is known as its lines arrive.
struct BracketDepth {
  int depth = 0;
  char quote = 0;

  void take(std::string_view line);
};

}  // namespace sextant::emit
