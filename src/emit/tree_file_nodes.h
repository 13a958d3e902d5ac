// A parsed YAML document as plain values, and how it becomes flat settings. Inside of tree_file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emit/settings.h"

namespace sextant::emit {

struct TreeNode {
  enum class Kind { kScalar, kNull, kList, kTable, kAlias };
  Kind kind = Kind::kNull;
  std::string text;  // scalars
  bool quoted = false;
  std::int64_t line = 0;
  std::size_t offset = 0;
  // List: elements. Table: key, value, key, value … Alias: the node it means. Indices into the
  // tree.
  std::vector<std::size_t> children;
};

struct Tree {
  std::vector<TreeNode> nodes;  // the root is the first
};

constexpr int kMostTreeLevels = 64;
constexpr std::size_t kMostTreeEntries = 100'000;

// Step 1, tree_file.cc: the text as nodes. Step 2, tree_flatten.cc: the nodes as settings; `text`
// is what the nodes' offsets point into, `name` the file.
Result<Tree> read_tree(std::string_view text, std::string_view name);
// A key that a table has twice: of YAML the last stands, as PyYAML takes it; DeepSpeed refuses JSON
// that does so.
enum class Repeated { kLastStands, kRefused };
Result<std::vector<Setting>> flatten(const Tree& tree, std::string_view text, std::string_view name,
                                     Repeated repeated);

}  // namespace sextant::emit
