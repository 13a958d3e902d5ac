// Nodes → settings: paths joined by dots, aliases expanded, every visited node counted.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/tree_file_nodes.h"

namespace sextant::emit {
namespace {

// The value as it is spelled in the file, quotes included: its length, or 0 where it is not one
// piece on one line.
std::size_t literal_length(const TreeNode& node, std::string_view text) {
  if (node.offset >= text.size()) {
    return 0;
  }
  const std::string_view rest = text.substr(node.offset);
  if (!node.quoted) {
    return rest.starts_with(node.text) ? node.text.size() : 0;
  }
  const char quote = rest.front();
  if (quote != '"' && quote != '\'') {
    return 0;
  }
  for (std::size_t i = 1; i < rest.size() && rest[i] != '\n'; ++i) {
    if (rest[i] == '\\' && quote == '"') {
      i += 1;
    } else if (rest[i] == quote) {
      if (quote == '\'' && i + 1 < rest.size() && rest[i + 1] == quote) {
        i += 1;
      } else {
        return i + 1;
      }
    }
  }
  return 0;
}

class Flattener {
 public:
  Flattener(const Tree& tree, std::string_view text, std::string_view name, Repeated repeated)
      : tree_(tree), text_(text), name_(name), repeated_(repeated) {}

  Result<std::vector<Setting>> run() && {
    if (tree_.nodes.empty() || tree_.nodes[0].kind == TreeNode::Kind::kNull) {
      return std::vector<Setting>{};
    }
    if (tree_.nodes[0].kind != TreeNode::Kind::kTable) {
      return invalid("the file is not a table of keys and values",
                     fmt::format("{}:{}", name_, tree_.nodes[0].line), "key: value");
    }
    SEXTANT_CHECK_OK(table({0, std::nullopt, 0, false}));
    return std::move(settings_);
  }

 private:
  // Where the walk stands.
  struct At {
    std::size_t node = 0;
    std::optional<std::string> path;  // nothing at the top
    int level = 0;
    bool aliased = false;  // on the way here an alias was followed
  };

  [[nodiscard]] const TreeNode& node(const At& at) const { return tree_.nodes[at.node]; }

  [[nodiscard]] tl::unexpected<Error> refuse(const At& at, std::string what,
                                             std::string allowed) const {
    return invalid(std::move(what), fmt::format("{}:{}", name_, node(at).line), std::move(allowed));
  }

  static At below(const At& at, std::size_t child, std::string_view key) {
    At next = at;
    next.node = child;
    next.path = at.path ? fmt::format("{}.{}", *at.path, key) : std::string(key);
    next.level += 1;
    return next;
  }

  // Follows aliases. An alias may stand inside the node it means, so the steps are bounded.
  [[nodiscard]] At resolved(At at) const {
    for (int steps = 0; steps < kMostTreeLevels && node(at).kind == TreeNode::Kind::kAlias;
         ++steps) {
      at.node = node(at).children[0];
      at.aliased = true;
    }
    return at;
  }

  Result<void> visit(const At& unresolved) {
    const At at = resolved(unresolved);
    visited_ += 1;
    if (visited_ > kMostTreeEntries) {
      return refuse(at, "the file has too many entries once its aliases are expanded",
                    fmt::format("up to {}", kMostTreeEntries));
    }
    if (at.level > kMostTreeLevels) {
      return refuse(at, "the file is nested too deeply", fmt::format("{} levels", kMostTreeLevels));
    }
    switch (node(at).kind) {
      case TreeNode::Kind::kTable:
        return table(at);
      case TreeNode::Kind::kList:
        return list(at);
      case TreeNode::Kind::kScalar:
      case TreeNode::Kind::kNull:
      case TreeNode::Kind::kAlias:
        break;
    }
    Setting setting = made(at);
    setting.values = {value_of(at)};
    if (!at.aliased && node(at).kind == TreeNode::Kind::kScalar) {
      setting.place.length = literal_length(node(at), text_);
    }
    return keep(at, std::move(setting));
  }

  // Where each key stands last, where that is what counts.
  [[nodiscard]] std::map<std::string, std::size_t> last_entries(
      const At& at, const std::vector<std::size_t>& entries) const {
    std::map<std::string, std::size_t> last;
    for (std::size_t i = 0; repeated_ == Repeated::kLastStands && i + 1 < entries.size(); i += 2) {
      At key = at;
      key.node = entries[i];
      if (node(key).kind == TreeNode::Kind::kScalar && node(key).text != "<<") {
        last[node(key).text] = i;
      }
    }
    return last;
  }

  Result<void> table(const At& at) {
    const std::vector<std::size_t>& entries = node(at).children;
    if (entries.empty() && at.path) {
      return keep(at, made(at));
    }
    std::vector<std::size_t> merged;  // values of "<<"
    std::set<std::string> own;
    const std::map<std::string, std::size_t> last = last_entries(at, entries);
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
      const At key = resolved(below(at, entries[i], ""));
      if (node(key).kind != TreeNode::Kind::kScalar && node(key).kind != TreeNode::Kind::kNull) {
        return refuse(key, "a key is not a word", "key: value");
      }
      const std::string word = value_of(key);
      if (word == "<<" && !node(key).quoted) {
        merged.push_back(entries[i + 1]);
        continue;
      }
      if (const auto stands = last.find(word); stands != last.end() && stands->second != i) {
        continue;
      }
      if (!own.insert(word).second) {
        return refuse(key, fmt::format("'{}' is given twice", printable(word)), "each key once");
      }
      if (!hidden(at, word)) {
        SEXTANT_CHECK_OK(visit(below(at, entries[i + 1], word)));
      }
    }
    for (const std::size_t value : merged) {
      SEXTANT_CHECK_OK(merge(at, value, own));
    }
    return {};
  }

  // The entries of a merged table (or list of tables) that the table does not have itself.
  Result<void> merge(const At& at, std::size_t value, const std::set<std::string>& own) {
    At from = at;
    from.node = value;
    from.level += 1;
    from = resolved(from);
    from.aliased = true;
    visited_ += 1;
    if (from.level > kMostTreeLevels || visited_ > kMostTreeEntries) {
      return refuse(from, "merge keys (<<) expand to too much",
                    "tables that are not nested in themselves");
    }
    if (node(from).kind == TreeNode::Kind::kList) {
      std::set<std::string> seen = own;
      for (const std::size_t element : node(from).children) {
        SEXTANT_CHECK_OK(merge(from, element, seen));
        At each = from;
        each.node = element;
        each = resolved(each);
        for (std::size_t i = 0; i < node(each).children.size(); i += 2) {
          seen.insert(tree_.nodes[node(each).children[i]].text);
        }
      }
      return {};
    }
    if (node(from).kind != TreeNode::Kind::kTable) {
      return refuse(from, "a merge key (<<) needs a table", "<<: *name");
    }
    hidden_.push_back({at.path, own});
    const Result<void> done = table(from);
    hidden_.pop_back();
    return done;
  }

  // Is this key of a merged table given by the table that merges it?
  [[nodiscard]] bool hidden(const At& at, const std::string& word) const {
    return std::any_of(hidden_.begin(), hidden_.end(), [&](const Hidden& each) {
      return each.path == at.path && each.keys.contains(word);
    });
  }

  Result<void> list(const At& at) {
    const std::vector<std::size_t>& elements = node(at).children;
    const bool plain = std::all_of(elements.begin(), elements.end(), [&](std::size_t element) {
      At each = at;
      each.node = element;
      const TreeNode::Kind kind = node(resolved(each)).kind;
      return kind == TreeNode::Kind::kScalar || kind == TreeNode::Kind::kNull;
    });
    if (!plain) {
      for (std::size_t i = 0; i < elements.size(); ++i) {
        SEXTANT_CHECK_OK(visit(below(at, elements[i], std::to_string(i))));
      }
      return {};
    }
    visited_ += elements.size();
    if (visited_ > kMostTreeEntries) {
      return refuse(at, "the file has too many entries", fmt::format("up to {}", kMostTreeEntries));
    }
    Setting setting = made(at);
    for (const std::size_t element : elements) {
      At each = at;
      each.node = element;
      setting.values.push_back(value_of(resolved(each)));
    }
    return keep(at, std::move(setting));
  }

  [[nodiscard]] std::string value_of(const At& at) const {
    return node(at).kind == TreeNode::Kind::kNull ? "null" : node(at).text;
  }

  [[nodiscard]] Setting made(const At& at) const {
    Setting setting;
    setting.key = at.path.value_or("");
    setting.place = {std::string(name_), node(at).line, node(at).offset, 0};
    return setting;
  }

  Result<void> keep(const At& at, Setting setting) {
    if (!keys_.insert(setting.key).second) {
      return refuse(at, fmt::format("'{}' is given twice", printable(setting.key)),
                    "each key once");
    }
    // Paths grow with the depth: the sum is bounded as the text is.
    path_bytes_ += setting.key.size();
    if (path_bytes_ > kMostPathBytes) {
      return refuse(at, "the file's keys are too long", "16 MiB of dotted keys");
    }
    settings_.push_back(std::move(setting));
    return {};
  }

  struct Hidden {
    std::optional<std::string> path;
    std::set<std::string> keys;
  };
  static constexpr std::size_t kMostPathBytes = std::size_t{16} << 20U;

  const Tree& tree_;
  std::string_view text_;
  std::string_view name_;
  Repeated repeated_;
  std::vector<Setting> settings_;
  std::set<std::string> keys_;
  std::vector<Hidden> hidden_;
  std::size_t visited_ = 0;
  std::size_t path_bytes_ = 0;
};

}  // namespace

Result<std::vector<Setting>> flatten(const Tree& tree, std::string_view text, std::string_view name,
                                     Repeated repeated) {
  return Flattener(tree, text, name, repeated).run();
}

}  // namespace sextant::emit
