#include "explain/term_tree.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/json.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

Json json_of(const Term& term) {
  Json json;
  json["name"] = term.name;
  json["value"] = term.value;
  json["number"] = term.number;
  json["unit"] = term.unit;
  if (!term.formula.empty()) {
    json["formula"] = term.formula;
  }
  if (!term.page.empty()) {
    json["page"] = term.page;
  }
  if (!term.parts.empty()) {
    Json& parts = json["parts"] = Json::array();
    for (const Term& part : term.parts) {
      parts.push_back(json_of(part));
    }
  }
  return json;
}

// Lines of the tree with their branches drawn.
struct Line {
  std::string name;
  const Term* term = nullptr;
};

void add_lines(const Term& term, const std::string& indent, std::vector<Line>& lines) {
  for (std::size_t i = 0; i < term.parts.size(); ++i) {
    const bool last = i + 1 == term.parts.size();
    lines.push_back({indent + (last ? "└ " : "├ ") + term.parts[i].name, &term.parts[i]});
    add_lines(term.parts[i], indent + (last ? "  " : "│ "), lines);
  }
}

std::string tree_text(const Term& root, const Style& style) {
  std::vector<Line> lines{{root.name, &root}};
  add_lines(root, "", lines);
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const Line& line : lines) {
    name_width = std::max(name_width, display_width(line.name));
    value_width = std::max(value_width, display_width(line.term->value));
  }
  std::string text;
  for (const Line& line : lines) {
    const std::string name_pad(name_width - display_width(line.name), ' ');
    const std::string value_pad(value_width - display_width(line.term->value), ' ');
    const std::string formula =
        line.term->formula.empty() ? "" : "  = " + dim(line.term->formula, style);
    const std::string page =
        line.term->page.empty() ? "" : dim("  [" + line.term->page + "]", style);
    text += fmt::format("{}{}  {}{}{}{}\n", line.name, name_pad, value_pad, line.term->value,
                        formula, page);
  }
  return text;
}

void add_rows(const Term& term, int depth, Table& table) {
  table.rows.push_back({fmt::format("{}", depth), term.name, fmt::format("{:.17g}", term.number),
                        term.unit, term.formula, term.page});
  for (const Term& part : term.parts) {
    add_rows(part, depth + 1, table);
  }
}

}  // namespace

Term bytes_term(std::string name, Bytes bytes) {
  Term term;
  term.name = std::move(name);
  term.value = sextant::to_text(bytes);
  term.number = bytes.base();
  term.unit = "bytes";
  return term;
}

std::string to_text(const TreeAnswer& answer, const Style& style) {
  const Term& root = answer.root;
  if (style.format == Format::kJson) {
    Json json = document("explain", answer.provenance);
    json["tree"] = json_of(root);
    return dumped(json);
  }
  if (style.format == Format::kCsv) {
    Table table{{{"depth", true}, {"name"}, {"number", true}, {"unit"}, {"formula"}, {"page"}}, {}};
    add_rows(root, 0, table);
    return to_text(table, style);
  }
  const std::string text = tree_text(root, style);
  return style.format == Format::kMarkdown ? "```\n" + text + "```\n" : text;
}

}  // namespace sextant::explain
