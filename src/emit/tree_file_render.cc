// Settings → YAML and JSON. Keys are nested by their dots; how a value is spelled decides whether
// it stands bare or in quotes.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/tree_file.h"

namespace sextant::emit {
namespace {

// The reader's bound leaves some room for numbered lists.
constexpr std::size_t kMostLevels = 60;

struct Branch {
  std::string name;
  const Setting* leaf = nullptr;
  std::vector<Branch> below;
};

Branch& child(Branch& parent, std::string_view name) {
  const auto found = std::find_if(parent.below.begin(), parent.below.end(),
                                  [&](const Branch& each) { return each.name == name; });
  if (found != parent.below.end()) {
    return *found;
  }
  parent.below.push_back({std::string(name), nullptr, {}});
  return parent.below.back();
}

// A key that is also the beginning of others stays flat with them: "a" and "a.b" side by side.
Branch nested(const Settings& settings) {
  std::set<std::string_view> leaves;
  for (const Setting& setting : settings.given) {
    leaves.insert(setting.key);
  }
  Branch root;
  for (const Setting& setting : settings.given) {
    const std::string_view key = setting.key;
    Branch* at = &root;
    std::size_t start = 0;
    std::size_t level = 0;
    for (std::size_t dot = key.find('.'); dot != std::string_view::npos && level < kMostLevels;
         dot = key.find('.', dot + 1)) {
      if (leaves.contains(key.substr(0, dot))) {
        break;
      }
      at = &child(*at, key.substr(start, dot - start));
      start = dot + 1;
      level += 1;
    }
    child(*at, key.substr(start)).leaf = &setting;
  }
  return root;
}

// Are the children a list's elements? One whose elements are all plain would read back as one key.
bool is_list_branch(const Branch& branch) {
  bool plain = true;
  for (std::size_t i = 0; i < branch.below.size(); ++i) {
    const Branch& each = branch.below[i];
    if (each.name != std::to_string(i)) {
      return false;
    }
    plain = plain && each.leaf != nullptr && each.leaf->values.size() == 1;
  }
  return !branch.below.empty() && !plain;
}

// -1, 0.5, 1e-4, 1.0E+5, as JSON has them; with `loose` also 10_000, 1., .5 and +1.
bool is_tree_number(std::string_view text, bool loose) {
  std::string plain;
  for (const char c : text) {
    const bool separator = loose && c == '_' && !plain.empty() && is_digit(plain.back());
    const bool part = is_digit(c) || std::string_view("+-.eE").find(c) != std::string_view::npos;
    if (!part && !separator) {
      return false;
    }
    if (part) {
      plain += c;
    }
  }
  if (!to_double(plain)) {
    return false;
  }
  if (loose) {
    return true;
  }
  const std::string_view digits = std::string_view(plain).substr(plain.starts_with('-') ? 1 : 0);
  const std::size_t dot = digits.find('.');
  const bool leading = digits.size() > 1 && digits[0] == '0' && is_digit(digits[1]);
  return !digits.empty() && is_digit(digits[0]) && !leading &&
         (dot == std::string_view::npos || (dot + 1 < digits.size() && is_digit(digits[dot + 1])));
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += byte < 0x20 ? fmt::format("\\u{:04x}", byte) : std::string(1, c);
    }
  }
  return out + "\"";
}

// May stand bare in YAML without being taken for anything else, inside a list too.
bool is_plain_word(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kTaken{"yes", "no", "on", "off",
                                                          "y",   "n",  "~",  "null"};
  if (text.empty() || std::find(kTaken.begin(), kTaken.end(), to_lower(text)) != kTaken.end()) {
    return false;
  }
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/';
  };
  return letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
           return letter(c) || is_digit(c) || std::string_view(".+-=@").find(c) < 5;
         });
}

std::string yaml_scalar(std::string_view text) {
  const bool bare = text == "null" || is_plain_word(text) || is_tree_number(text, true);
  return bare ? std::string(text) : json_string(text);
}

std::string json_scalar(std::string_view text) {
  const bool bare =
      text == "null" || text == "true" || text == "false" || is_tree_number(text, false);
  return bare ? std::string(text) : json_string(text);
}

std::string values_text(const Setting& setting, std::string (*scalar)(std::string_view)) {
  if (setting.values.size() == 1) {
    return scalar(setting.values[0]);
  }
  std::vector<std::string> parts;
  for (const std::string& value : setting.values) {
    parts.push_back(scalar(value));
  }
  return "[" + join(parts, ", ") + "]";
}

void write_yaml(const Branch& branch, std::size_t indent, std::string& out) {
  const bool list = indent > 0 && is_list_branch(branch);
  for (const Branch& each : branch.below) {
    const std::string name = list ? "-" : yaml_scalar(each.name) + ":";
    out += std::string(indent, ' ') + name;
    if (each.leaf != nullptr) {
      out += " " + values_text(*each.leaf, yaml_scalar) + "\n";
    } else {
      out += "\n";
      write_yaml(each, indent + 2, out);
    }
  }
}

void write_json(const Branch& branch, std::size_t indent, std::string& out) {
  const bool list = indent > 0 && is_list_branch(branch);
  out += list ? "[" : "{";
  bool first = true;
  for (const Branch& each : branch.below) {
    out += std::string(first ? "\n" : ",\n") + std::string(indent + 2, ' ');
    out += list ? "" : json_string(each.name) + ": ";
    first = false;
    if (each.leaf != nullptr) {
      out += values_text(*each.leaf, json_scalar);
    } else {
      write_json(each, indent + 2, out);
    }
  }
  out += first ? "" : "\n" + std::string(indent, ' ');
  out += list ? "]" : "}";
}

}  // namespace

std::string render_yaml(const Settings& settings, std::span<const std::string> comments) {
  std::string out;
  for (const std::string& comment : comments) {
    for (const std::string_view line : split(comment, '\n')) {
      out += fmt::format("# {}\n", printable(line, line.size() + 1));
    }
  }
  write_yaml(nested(settings), 0, out);
  return out;
}

std::string render_json(const Settings& settings) {
  std::string out;
  write_json(nested(settings), 0, out);
  return out + "\n";
}

}  // namespace sextant::emit
