// The YAML library hands over events; nodes are kept by index, so that an alias costs nothing until
// it is expanded (tree_file_flatten.cc), where entries are counted.
#include "emit/tree_file.h"

#include <map>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/text.h"
#include "describe/json_value.h"
#include "emit/tree_file_json.h"
#include "emit/tree_file_nodes.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string where(std::string_view name, std::int64_t line) {
  return fmt::format("{}:{}", name, line);
}

// Builds the tree. After the first thing that is wrong the rest of the document is ignored: the
// library cannot be stopped but by an exception.
class Builder : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(TreeNode::Kind::kNull, mark, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const std::size_t node = add(TreeNode::Kind::kAlias, mark, YAML::NullAnchor);
    if (problem_.empty()) {
      tree_.nodes[node].children = {anchors_[anchor]};
    }
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const std::size_t node = add(TreeNode::Kind::kScalar, mark, anchor);
    if (problem_.empty()) {
      tree_.nodes[node].text = value;
      tree_.nodes[node].quoted = tag == "!";
    }
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(TreeNode::Kind::kList, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(TreeNode::Kind::kTable, mark, anchor);
  }
  void OnMapEnd() override { close(); }

  [[nodiscard]] Result<Tree> tree(std::string_view name) && {
    if (!problem_.empty()) {
      return invalid(problem_, where(name, problem_line_), allowed_);
    }
    return std::move(tree_);
  }

 private:
  std::size_t add(TreeNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    // A table's entry is two nodes.
    if (tree_.nodes.size() > 2 * kMostTreeEntries) {
      refuse(mark, "the file has too many entries", fmt::format("up to {}", kMostTreeEntries));
    }
    if (!problem_.empty()) {
      return 0;
    }
    const std::size_t node = tree_.nodes.size();
    TreeNode made;
    made.kind = kind;
    made.line = mark.line + 1;
    made.offset = mark.pos < 0 ? 0 : static_cast<std::size_t>(mark.pos);
    tree_.nodes.push_back(std::move(made));
    if (!open_.empty()) {
      tree_.nodes[open_.back()].children.push_back(node);
    }
    if (anchor != YAML::NullAnchor) {
      anchors_[anchor] = node;
    }
    return node;
  }
  void open(TreeNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() >= kMostTreeLevels) {
      refuse(mark, "the file is nested too deeply", fmt::format("{} levels", kMostTreeLevels));
    }
    const std::size_t node = add(kind, mark, anchor);
    if (problem_.empty()) {
      open_.push_back(node);
    }
  }
  void close() {
    if (problem_.empty() && !open_.empty()) {
      open_.pop_back();
    }
  }
  void refuse(const YAML::Mark& mark, std::string what, std::string allowed) {
    if (problem_.empty()) {
      problem_ = std::move(what);
      problem_line_ = mark.line + 1;
      allowed_ = std::move(allowed);
    }
  }

  Tree tree_;
  std::vector<std::size_t> open_;
  std::map<YAML::anchor_t, std::size_t> anchors_;
  std::string problem_;
  std::string allowed_;
  std::int64_t problem_line_ = 0;
};

// What must hold before a library sees the text. It takes byte 4 for the end of the file.
Result<void> check_text(std::string_view text, std::string_view name) {
  if (Bytes(static_cast<double>(text.size())) > kMostTreeText) {
    return invalid("the file is larger than 4 MiB", std::string(name));
  }
  if (const auto at = first_invalid_utf8(text)) {
    return invalid("the file is not UTF-8 text", where(name, line_column(text, *at).line));
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') {
      return invalid(fmt::format("the file has the control character \\x{:02x}", byte),
                     where(name, line_column(text, i).line));
    }
  }
  return {};
}

Result<Settings> settings_of(std::string_view text, std::string_view name, Dialect dialect,
                             Repeated repeated) {
  SEXTANT_TRY(const Tree tree, read_tree(text, name));
  Settings settings;
  settings.dialect = dialect;
  SEXTANT_TRY(settings.given, flatten(tree, text, name, repeated));
  return settings;
}

}  // namespace

Result<Tree> read_tree(std::string_view text, std::string_view name) {
  std::istringstream stream{std::string(text)};
  Builder builder;
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      return Tree{};
    }
    Builder next;
    if (parser.HandleNextDocument(next)) {
      return invalid("the file holds several YAML documents", std::string(name), "one document");
    }
  } catch (const YAML::Exception& error) {
    return invalid(fmt::format("not readable: {}", printable(error.msg)),
                   where(name, error.mark.is_null() ? 1 : error.mark.line + 1));
  } catch (const std::exception& error) {
    return invalid(fmt::format("not readable: {}", printable(error.what())), where(name, 1));
  }
  return std::move(builder).tree(name);
}

Result<Settings> parse_yaml(std::string_view text, std::string_view name, Dialect dialect) {
  SEXTANT_CHECK_OK(check_text(text, name));
  if (!text.starts_with(kByteOrderMark)) {
    return settings_of(text, name, dialect, Repeated::kLastStands);
  }
  auto settings =
      settings_of(text.substr(kByteOrderMark.size()), name, dialect, Repeated::kLastStands);
  if (settings) {
    for (Setting& setting : settings->given) {
      setting.place.offset += kByteOrderMark.size();
    }
  }
  return settings;
}

Result<Settings> parse_json(std::string_view text, std::string_view name, Dialect dialect) {
  SEXTANT_CHECK_OK(check_text(text, name));
  // Of the same length, so that places hold.
  SEXTANT_TRY(const std::string plain, plain_json(text, name));
  SEXTANT_TRY(const describe::JsonValue value, describe::JsonValue::parse(plain, name));
  if (value.kind() != describe::JsonValue::Kind::kObject) {
    return invalid("the file is not a JSON object", where(name, 1), "{ … }");
  }
  return settings_of(plain, name, dialect, Repeated::kRefused);
}

}  // namespace sextant::emit
