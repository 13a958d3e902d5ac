#include "emit/patch_spelling.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/flags.h"
#include "emit/launch.h"
#include "emit/shell_characters.h"

namespace sextant::emit {
namespace {

bool is_quote(char c) {
  return c == '"' || c == '\'';
}

struct Line {
  std::size_t start = 0;
  std::size_t end = 0;  // at the line feed, or the text's end
};

Line line_at(std::string_view text, std::size_t offset) {
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  return {before == std::string_view::npos ? 0 : before + 1,
          std::min(text.find('\n', offset), text.size())};
}

std::string indentation(std::string_view text, const Line& line) {
  std::size_t end = line.start;
  while (end < line.end && is_blank(text[end])) {
    ++end;
  }
  return std::string(text.substr(line.start, end - line.start));
}

bool continues_from_above(std::string_view text, const Line& line) {
  return line.start >= 2 && text[line.start - 2] == '\\';
}

std::string_view leaf_of(std::string_view key) {
  return key.substr(key.rfind('.') + 1);
}

// A number, true, false or null: written bare in every file.
bool is_bare(std::string_view value) {
  return to_double(value).has_value() || value == "true" || value == "false" || value == "null";
}

std::string bare_in(std::string_view value, PatchedKind kind) {
  if (kind != PatchedKind::kPython) {
    return std::string(value);
  }
  return value == "true"    ? "True"
         : value == "false" ? "False"
         : value == "null"  ? "None"
                            : std::string(value);
}

std::string in_double_quotes(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    text += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  }
  return text + '"';
}

bool has_only(std::string_view value, std::string_view more) {
  return std::ranges::all_of(value, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           more.find(c) != std::string_view::npos;
  });
}

std::string file_value(std::string_view value, PatchedKind kind) {
  const bool plain_yaml = kind == PatchedKind::kYaml && !value.empty() &&
                          has_only(value, "_./+-") && !value.starts_with('-');
  return is_bare(value) ? bare_in(value, kind)
         : plain_yaml   ? std::string(value)
                        : in_double_quotes(value);
}

std::string list_value(const Setting& wanted, PatchedKind kind) {
  if (wanted.values.size() == 1) {
    return file_value(wanted.values[0], kind);
  }
  std::string text = "[";
  for (const std::string& value : wanted.values) {
    text += (text.size() > 1 ? ", " : "") + file_value(value, kind);
  }
  return text + ']';
}

// Bytes a shell takes as they are, whatever quotes they stand in.
bool is_plain_shell(std::string_view value) {
  return !value.empty() && has_only(value, "_-./:=+,@%[]");
}

// The setting as words of a command line.
std::string shell_words(const Setting& wanted, Dialect dialect) {
  const std::string list =
      wanted.values.size() == 1 ? wanted.values[0] : '[' + join(wanted.values, ",") + ']';
  const bool switched = wanted.values == std::vector<std::string>{"true"};
  switch (dialect) {
    case Dialect::kBridge:
    case Dialect::kMaxtext:
      return shell_quoted(fmt::format("{}={}", wanted.key, list));
    case Dialect::kMegatron: {
      std::string text;
      for (const std::string& word : flag_words(wanted)) {
        text += (text.empty() ? "" : " ") + shell_quoted(word);
      }
      return text;
    }
    case Dialect::kTorchtitan:
    case Dialect::kTorchtitanToml:
    case Dialect::kDeepspeed:
    case Dialect::kAccelerate:
    case Dialect::kNanotron:
      break;
  }
  const bool sections = dialect == Dialect::kTorchtitan || dialect == Dialect::kTorchtitanToml;
  std::string text =
      fmt::format("--{}", sections ? std::string_view(wanted.key) : leaf_of(wanted.key));
  for (const std::string& value : wanted.values) {
    text += switched ? "" : ' ' + shell_quoted(value);
  }
  return text;
}

// '-' and '_' are the same in flags.
bool same_flag(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](char x, char y) { return (x == '-' ? '_' : x) == (y == '-' ? '_' : y); });
}

// Where the word that ends in `key` at `end` begins, its dashes and quote included.
std::optional<std::size_t> word_start(std::string_view text, std::size_t end,
                                      std::string_view key) {
  if (end < key.size() || !same_flag(text.substr(end - key.size(), key.size()), key)) {
    return std::nullopt;
  }
  std::size_t from = end - key.size();
  while (from > 0 && std::string_view("-+'\"").find(text[from - 1]) != std::string_view::npos) {
    --from;
  }
  const bool word =
      from == 0 || std::string_view(" \t\n(").find(text[from - 1]) != std::string_view::npos;
  return word ? std::optional(from) : std::nullopt;
}

std::optional<Span> shell_span(const Setting& setting, std::string_view text) {
  const Place& place = setting.place;
  const std::string_view literal = text.substr(place.offset, place.length);
  if (literal.starts_with("--") && same_flag(literal.substr(2), setting.key)) {
    return Span{place.offset, place.length};
  }
  std::size_t start = place.offset;
  std::size_t end = place.offset + place.length;
  if (start > 0 && end < text.size() && is_quote(text[start - 1]) && text[end] == text[start - 1]) {
    --start;
    ++end;
  }
  while (start > 0 && (is_blank(text[start - 1]) || text[start - 1] == '=')) {
    --start;
  }
  for (const std::string_view key : {std::string_view(setting.key), leaf_of(setting.key)}) {
    if (const auto from = word_start(text, start, key)) {
      const bool closes = end < text.size() && is_quote(text[*from]) && text[end] == text[*from];
      return Span{*from, end + (closes ? 1U : 0U) - *from};
    }
  }
  return std::nullopt;
}

// The line of a file that holds "key: value" and nothing else before the key.
std::optional<Span> file_span(const Setting& setting, PatchedKind kind, std::string_view text) {
  const Line line = line_at(text, setting.place.offset);
  const std::size_t start = line.start + indentation(text, line).size();
  std::string_view rest = text.substr(start, line.end - start);
  const std::string_view leaf = leaf_of(setting.key);
  if (!rest.empty() && is_quote(rest[0])) {
    rest.remove_prefix(1);
  }
  if (!rest.starts_with(leaf)) {
    return std::nullopt;
  }
  rest = rest.substr(leaf.size());
  if (!rest.empty() && is_quote(rest[0])) {
    rest.remove_prefix(1);
  }
  const char sign = kind == PatchedKind::kYaml || kind == PatchedKind::kJson ? ':' : '=';
  if (!trimmed(rest).starts_with(sign)) {
    return std::nullopt;
  }
  return Span{start, line.end - start};
}

Edit edit_of(const Setting& at, std::size_t offset, std::size_t length, std::string text,
             std::string key) {
  return {at.place.file, offset, length, std::move(text), std::move(key)};
}

Edit inserted_in_shell(const Setting& neighbour, const Span& span, const std::string& words,
                       std::string_view text, const std::string& key) {
  const Line line = line_at(text, span.offset);
  const std::size_t end = span.offset + span.length;
  const std::string indent = indentation(text, line);
  const std::string_view rest = trimmed(text.substr(end, line.end - std::min(end, line.end)));
  const bool alone = span.offset == line.start + indent.size() && end <= line.end;
  if (alone && rest == "\\") {
    return edit_of(neighbour, line.end, 0, fmt::format("\n{}{} \\", indent, words), key);
  }
  if (alone && !continues_from_above(text, line) && (rest.empty() || rest.starts_with('#')) &&
      line.end < text.size()) {
    return edit_of(neighbour, line.end, 0, fmt::format("\n{}{}", indent, words), key);
  }
  return edit_of(neighbour, end, 0, ' ' + words, key);
}

}  // namespace

PatchedKind patched_kind(std::string_view file) {
  return file.ends_with(".yaml") || file.ends_with(".yml") ? PatchedKind::kYaml
         : file.ends_with(".json")                         ? PatchedKind::kJson
         : file.ends_with(".toml")                         ? PatchedKind::kToml
         : file.ends_with(".py")                           ? PatchedKind::kPython
                                                           : PatchedKind::kShell;
}

std::optional<std::string> value_in_place(const Setting& wanted, PatchedKind kind,
                                          std::string_view old, char before) {
  if (kind != PatchedKind::kShell) {
    const bool quoted = !old.empty() && is_quote(old[0]) && wanted.values.size() == 1;
    return quoted ? in_double_quotes(wanted.values[0]) : list_value(wanted, kind);
  }
  if (old.starts_with('[') && wanted.values.size() != 1) {
    return '[' + join(wanted.values, ",") + ']';
  }
  std::string value = join(wanted.values, " ");
  const bool plain = std::ranges::all_of(wanted.values, is_plain_shell);
  if (plain) {
    return value;
  }
  if (before == '\'' && value.find('\'') == std::string::npos) {
    return value;
  }
  if (before == '"' && value.find_first_of("\"$`\\") == std::string::npos) {
    return value;
  }
  return is_quote(before) ? std::nullopt : std::optional(shell_quoted(value));
}

std::optional<Span> span_of(const Setting& setting, PatchedKind kind, std::string_view text) {
  if (setting.place.length == 0 || setting.place.offset + setting.place.length > text.size()) {
    return std::nullopt;
  }
  return kind == PatchedKind::kShell ? shell_span(setting, text) : file_span(setting, kind, text);
}

std::optional<Edit> inserted_beside(const Setting& neighbour, const Setting& wanted,
                                    Dialect dialect, std::string_view text) {
  const PatchedKind kind = patched_kind(neighbour.place.file);
  const auto span = span_of(neighbour, kind, text);
  if (!span) {
    return std::nullopt;
  }
  if (kind == PatchedKind::kShell) {
    return inserted_in_shell(neighbour, *span, shell_words(wanted, dialect), text, wanted.key);
  }
  const Line line = line_at(text, span->offset);
  const std::string indent = indentation(text, line);
  const std::string leaf(leaf_of(wanted.key));
  const std::string value = list_value(wanted, kind);
  // Before the neighbour where entries end in commas: the last entry has none.
  switch (kind) {
    case PatchedKind::kJson:
      return edit_of(neighbour, line.start, 0, fmt::format("{}\"{}\": {},\n", indent, leaf, value),
                     wanted.key);
    case PatchedKind::kPython:
      return edit_of(neighbour, line.start, 0, fmt::format("{}{}={},\n", indent, leaf, value),
                     wanted.key);
    case PatchedKind::kYaml:
      return edit_of(neighbour, line.start, 0, fmt::format("{}{}: {}\n", indent, leaf, value),
                     wanted.key);
    case PatchedKind::kToml:
    case PatchedKind::kShell:
      break;
  }
  return edit_of(neighbour, line.start, 0, fmt::format("{}{} = {}\n", indent, leaf, value),
                 wanted.key);
}

std::optional<Edit> taken_out(const Setting& setting, std::string_view text) {
  const PatchedKind kind = patched_kind(setting.place.file);
  const auto span = span_of(setting, kind, text);
  if (!span) {
    return std::nullopt;
  }
  const Line line = line_at(text, span->offset);
  const std::size_t end = span->offset + span->length;
  const bool starts_line = span->offset == line.start + indentation(text, line).size();
  const std::size_t next = std::min(line.end + 1, text.size());
  if (kind != PatchedKind::kShell) {
    const bool commas = kind == PatchedKind::kJson || kind == PatchedKind::kPython;
    if (commas && !trimmed(text.substr(line.start, line.end - line.start)).ends_with(',')) {
      return std::nullopt;
    }
    return edit_of(setting, line.start, next - line.start, "", setting.key);
  }
  const std::string_view rest =
      end <= line.end ? trimmed(text.substr(end, line.end - end)) : std::string_view("more");
  const bool whole =
      starts_line && (rest == "\\" || (rest.empty() && !continues_from_above(text, line)));
  if (whole) {
    return edit_of(setting, line.start, next - line.start, "", setting.key);
  }
  // The blank before goes along.
  const std::size_t blank = span->offset > line.start && is_blank(text[span->offset - 1]) ? 1 : 0;
  return edit_of(setting, span->offset - blank, span->length + blank, "", setting.key);
}

}  // namespace sextant::emit
