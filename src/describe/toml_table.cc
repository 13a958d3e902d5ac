#include "describe/toml_table.h"

#include <algorithm>
#include <exception>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::describe {

// The library asserts on some malformed input ("[#}7"); hostile input must end in an Error instead.
constexpr void require_toml(bool holds) {
  if (!holds) {
    throw std::invalid_argument("is not TOML");
  }
}

}  // namespace sextant::describe

#define TOML_ASSERT(condition) ::sextant::describe::require_toml(static_cast<bool>(condition))
#include <toml++/toml.h>

#include "base/file.h"
#include "base/text.h"

namespace sextant::describe {
namespace {

constexpr Bytes kMostToml = 1_MiB;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// Keys nest by dots and by brackets. The library bounds brackets (256 deep) but not dots, and frees
// tables recursively: without these limits a hostile file could exhaust the stack.
// It also meets undefined behaviour on some characters beyond ASCII where it looks for white space,
// so these are refused where TOML does not allow them anyway.
constexpr int kMostDotsALine = 16;
constexpr int kMostOpenBrackets = 16;

std::string toml_place(std::string_view where, std::int64_t line, std::int64_t column) {
  return fmt::format("{}:{}:{}", where, line, column);
}

const toml::table& as_table(const void* table) {
  return *static_cast<const toml::table*>(table);
}

// What of the line is outside strings and comments, as counts.
struct LineShape {
  int dots = 0;
  int opened = 0;
  int closed = 0;
  int deepest = 0;  // open at once, counted from the line's start
  bool multi_line_string = false;
  bool foreign = false;      // bytes beyond ASCII, which TOML allows in strings and comments only
  bool stray_quote = false;  // a quote where no string can begin
};

// May a string begin after this character (0: the line's start)?
bool opens_after(char before) {
  return before == '\0' || std::string_view("=[,{.").find(before) != std::string_view::npos;
}

// The closing quote of the string that opens at `start`; the line's end where there is none.
std::size_t closing_quote(std::string_view line, std::size_t start) {
  const char quote = line[start];
  for (std::size_t i = start + 1; i < line.size(); ++i) {
    if (line[i] == '\\' && quote == '"') {
      i += 1;
    } else if (line[i] == quote) {
      return i;
    }
  }
  return line.size();
}

LineShape line_shape(std::string_view line) {
  LineShape shape;
  int depth = 0;
  char before = '\0';  // the last character outside strings that is no white space
  for (std::size_t i = 0; i < line.size() && line[i] != '#'; ++i) {
    const char c = line[i];
    if (c == '"' || c == '\'') {
      shape.multi_line_string = shape.multi_line_string || line.substr(i, 3) == std::string(3, c);
      shape.stray_quote = shape.stray_quote || !opens_after(before);
      i = closing_quote(line, i);
    }
    before = c == ' ' || c == '\t' ? before : c;
    shape.foreign = shape.foreign || static_cast<unsigned char>(c) >= 0x80;
    shape.dots += c == '.' ? 1 : 0;
    shape.opened += c == '[' || c == '{' ? 1 : 0;
    shape.closed += c == ']' || c == '}' ? 1 : 0;
    depth = std::max(0, depth + (c == '[' || c == '{' ? 1 : 0) - (c == ']' || c == '}' ? 1 : 0));
    shape.deepest = std::max(shape.deepest, depth);
  }
  return shape;
}

Result<void> check_shape(std::string_view text, std::string_view where) {
  std::int64_t number = 0;
  int open = 0;
  for (const std::string_view line : split(text, '\n')) {
    number += 1;
    const LineShape shape = line_shape(line);
    if (shape.multi_line_string) {
      return invalid("multi-line strings are not read here", toml_place(where, number, 1),
                     "strings on one line");
    }
    if (shape.stray_quote) {
      return invalid("a quote where no string can begin", toml_place(where, number, 1),
                     "strings after '=', '[', ',' or '{', and quoted keys");
    }
    if (shape.foreign) {
      return invalid("letters beyond ASCII outside of a string", toml_place(where, number, 1),
                     "quoted strings and comments may hold any text");
    }
    if (shape.dots > kMostDotsALine || open + shape.deepest > kMostOpenBrackets) {
      return invalid("nested too deeply", toml_place(where, number, 1),
                     fmt::format("{} levels", kMostOpenBrackets));
    }
    open = std::max(0, open + shape.opened - shape.closed);
  }
  return {};
}

}  // namespace

namespace {

// The library's table of a text that has been looked at first.
Result<toml::table> checked_table(std::string_view text, std::string_view where) {
  SEXTANT_CHECK_OK(checked_text(text, kMostToml, where));
  text.remove_prefix(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  SEXTANT_CHECK_OK(check_shape(text, where));
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    return invalid(printable(error.description(), 300),
                   toml_place(where, error.source().begin.line, error.source().begin.column));
  } catch (const std::exception& error) {
    return invalid(printable(error.what(), 300), std::string(where));
  }
}

// Flattens a document; the text is there for how values are spelled.
class Flattener {
 public:
  explicit Flattener(std::string_view text) : text_(text) {
    starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') {
        starts_.push_back(i + 1);
      }
    }
  }

  void add(const std::string& key, const toml::node& node) {
    if (const auto* table = node.as_table()) {
      for (const auto& [name, inner] : *table) {
        add(key.empty() ? std::string(name.str()) : fmt::format("{}.{}", key, name.str()), inner);
      }
      return;
    }
    const auto* array = node.as_array();
    if (array == nullptr) {
      TomlEntry entry = entry_at(key, node);
      const std::size_t end = offset_of(node.source().end);
      entry.length = end > entry.offset ? end - entry.offset : 0;
      entry.values = {scalar(node, text_.substr(entry.offset, entry.length))};
      entries_.push_back(std::move(entry));
      return;
    }
    if (std::any_of(array->begin(), array->end(),
                    [](const toml::node& element) { return element.is_table(); })) {
      std::size_t index = 0;
      for (const toml::node& element : *array) {
        add(fmt::format("{}.{}", key, index++), element);
      }
      return;
    }
    TomlEntry entry = entry_at(key, node);
    for (const toml::node& element : *array) {
      entry.values.push_back(element_text(element));
    }
    entries_.push_back(std::move(entry));
  }

  std::vector<TomlEntry> entries() && {
    std::sort(entries_.begin(), entries_.end(),
              [](const TomlEntry& a, const TomlEntry& b) { return a.offset < b.offset; });
    return std::move(entries_);
  }

 private:
  // Columns count letters, offsets bytes.
  [[nodiscard]] std::size_t offset_of(const toml::source_position& place) const {
    if (place.line == 0 || place.line > starts_.size()) {
      return text_.size();
    }
    std::size_t offset = starts_[place.line - 1];
    for (toml::source_index column = 1; column < place.column && offset < text_.size(); ++column) {
      offset += 1;
      while (offset < text_.size() &&
             (static_cast<unsigned char>(text_[offset]) & 0xC0U) == 0x80U) {
        offset += 1;
      }
    }
    return offset;
  }

  [[nodiscard]] TomlEntry entry_at(const std::string& key, const toml::node& node) const {
    const auto& begin = node.source().begin;
    return {key, {}, begin.line, offset_of(begin), 0};
  }

  // A string's text; of anything else how it is spelled.
  [[nodiscard]] static std::string scalar(const toml::node& node, std::string_view spelled) {
    const auto* value = node.as_string();
    return value != nullptr ? value->get() : std::string(trimmed(spelled));
  }

  [[nodiscard]] std::string element_text(const toml::node& element) const {
    if (const auto* inner = element.as_array()) {
      std::vector<std::string> parts;
      for (const toml::node& one : *inner) {
        parts.push_back(element_text(one));
      }
      return join(parts, ",");
    }
    const std::size_t start = offset_of(element.source().begin);
    const std::size_t end = std::max(start, offset_of(element.source().end));
    return scalar(element, text_.substr(start, end - start));
  }

  std::string_view text_;
  std::vector<std::size_t> starts_;
  std::vector<TomlEntry> entries_;
};

}  // namespace

Result<std::vector<TomlEntry>> toml_entries(std::string_view text, std::string_view where) {
  SEXTANT_TRY(const toml::table root, checked_table(text, where));
  const std::size_t mark = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  Flattener flattener(text.substr(mark));
  flattener.add("", root);
  std::vector<TomlEntry> entries = std::move(flattener).entries();
  for (TomlEntry& entry : entries) {
    entry.offset += mark;
  }
  return entries;
}

struct TomlTable::Document {
  toml::table root;
  std::string where;
};

Result<TomlTable> TomlTable::parse(std::string_view text, std::string_view where) {
  auto document = std::make_shared<Document>();
  document->where = std::string(where);
  SEXTANT_TRY(document->root, checked_table(text, where));
  TomlTable table;
  table.table_ = &document->root;
  table.document_ = std::move(document);
  return table;
}

bool TomlTable::has(std::string_view key) const {
  return as_table(table_).contains(key);
}

std::vector<std::string> TomlTable::keys_as_written() const {
  using Place = std::pair<toml::source_position, std::string>;
  std::vector<Place> places;
  for (const auto& [key, value] : as_table(table_)) {
    places.emplace_back(key.source().begin, std::string(key.str()));
  }
  std::ranges::sort(places, [](const Place& a, const Place& b) {
    return std::pair(a.first.line, a.first.column) < std::pair(b.first.line, b.first.column);
  });
  std::vector<std::string> names;
  for (Place& place : places) {
    names.push_back(std::move(place.second));
  }
  return names;
}

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : as_table(table_)) {
    names.emplace_back(key.str());
  }
  return names;
}

std::string TomlTable::where() const {
  const auto& begin = as_table(table_).source().begin;
  return toml_place(document_->where, begin.line == 0 ? 1 : begin.line,
                    begin.column == 0 ? 1 : begin.column);
}

std::string TomlTable::where(std::string_view key) const {
  const toml::node* node = as_table(table_).get(key);
  if (node == nullptr) {
    return where();
  }
  return toml_place(document_->where, node->source().begin.line, node->source().begin.column);
}

Result<std::string> TomlTable::text(std::string_view key) const {
  const toml::node* node = as_table(table_).get(key);
  if (node == nullptr) {
    return invalid(fmt::format("{} is missing", key), where(), "a string");
  }
  const auto* value = node->as_string();
  if (value == nullptr) {
    return invalid(fmt::format("{} is not a string", key), where(key), "a string");
  }
  return value->get();
}

Result<std::int64_t> TomlTable::integer(std::string_view key, std::int64_t least,
                                        std::int64_t most) const {
  const std::string allowed = fmt::format("a whole number from {} to {}", least, most);
  const toml::node* node = as_table(table_).get(key);
  if (node == nullptr) {
    return invalid(fmt::format("{} is missing", key), where(), allowed);
  }
  const auto* value = node->as_integer();
  if (value == nullptr) {
    return invalid(fmt::format("{} is not a whole number", key), where(key), allowed);
  }
  if (value->get() < least || value->get() > most) {
    return invalid(fmt::format("{} is {}", key, value->get()), where(key), allowed);
  }
  return value->get();
}

Result<bool> TomlTable::boolean(std::string_view key) const {
  const toml::node* node = as_table(table_).get(key);
  const auto* value = node == nullptr ? nullptr : node->as_boolean();
  if (value == nullptr) {
    return invalid(fmt::format("{} is not a boolean", key), where(key), "true, false");
  }
  return value->get();
}

Result<TomlTable> TomlTable::table(std::string_view key) const {
  const toml::node* node = as_table(table_).get(key);
  if (node == nullptr || node->as_table() == nullptr) {
    return invalid(fmt::format("[{}] is {}", key, node == nullptr ? "missing" : "not a table"),
                   where(key), "a table");
  }
  TomlTable inner;
  inner.document_ = document_;
  inner.table_ = node->as_table();
  return inner;
}

Result<std::vector<std::string>> TomlTable::texts(std::string_view key) const {
  std::vector<std::string> values;
  const toml::node* node = as_table(table_).get(key);
  if (node == nullptr) {
    return values;
  }
  const auto* array = node->as_array();
  if (array == nullptr) {
    return invalid(fmt::format("{} is not an array", key), where(key), "an array of strings");
  }
  for (const toml::node& element : *array) {
    const auto* value = element.as_string();
    if (value == nullptr) {
      return invalid(fmt::format("{} holds something that is not a string", key), where(key),
                     "an array of strings");
    }
    values.push_back(value->get());
  }
  return values;
}

Result<TomlTable::SourcedText> TomlTable::sourced_text(std::string_view key) const {
  static constexpr std::array<std::string_view, 3> kKeys{"value", "kind", "source"};
  SEXTANT_TRY(const TomlTable inner, table(key));
  SEXTANT_CHECK_OK(inner.only(kKeys));
  SourcedText read;
  SEXTANT_TRY(read.value, inner.text("value"));
  SEXTANT_TRY(const std::string kind, inner.text("kind"));
  SEXTANT_TRY(read.kind, parse_word<SourceKind>(kSourceKindWords, kind, "kind of source",
                                                inner.where("kind")));
  SEXTANT_TRY(read.source, inner.text("source"));
  if (trimmed(read.source).empty()) {
    return invalid(fmt::format("{} has an empty source", key), inner.where("source"),
                   "a sentence that names the document and the place in it");
  }
  read.where = inner.where("value");
  return read;
}

Result<void> TomlTable::only(std::span<const std::string_view> allowed) const {
  for (const std::string& key : keys()) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      return unknown_word(key, {allowed.begin(), allowed.end()}, "key here", where(key));
    }
  }
  return {};
}

}  // namespace sextant::describe
