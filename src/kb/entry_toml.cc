// Writing of entries; reading is entry_text.cc. One table of fields serves both (entry_fields.h).
#include <optional>
#include <string>

#include <fmt/format.h>

#include "kb/entry_fields.h"
#include "kb/entry_text.h"

namespace sextant::kb {
namespace {

// A basic string of TOML; what is no plain letter of ASCII's controls stands escaped.
std::string toml_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\u{:04X}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// Lines of one entry; what holds nothing is left out.
class TomlLines {
 public:
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) {
      lines_ += fmt::format("{} = {}\n", key, toml_quoted(value));
    }
  }
  void count(std::string_view key, std::int64_t value) {
    if (value != 0) {
      lines_ += fmt::format("{} = {}\n", key, value);
    }
  }
  void number(std::string_view key, std::optional<double> value) {
    if (value) {
      lines_ += fmt::format("{} = {}\n", key, *value);
    }
  }
  void list(std::string_view key, std::span<const std::string> words) {
    std::string line;
    for (const std::string& word : words) {
      line += (line.empty() ? "" : ", ") + toml_quoted(word);
    }
    if (!line.empty()) {
      lines_ += fmt::format("{} = [{}]\n", key, line);
    }
  }
  template <typename E>
  void list(std::string_view key, std::span<const describe::Word<E>> words,
            const std::vector<E>& values) {
    std::vector<std::string> texts;
    for (const E value : values) {
      texts.emplace_back(describe::word_of<E>(words, value));
    }
    list(key, texts);
  }
  [[nodiscard]] const std::string& lines() const { return lines_; }

 private:
  std::string lines_;
};

std::string entry_toml(const Entry& entry) {
  TomlLines toml;
  toml.text("kind", describe::word_of<EntryKind>(kEntryKindWords, entry.kind));
  for (const TextField& field : kTextFields) {
    toml.text(field.key, entry.*field.text);
  }
  if (entry.trust != Trust::kUnknown) {
    toml.text("trust", describe::word_of<Trust>(kTrustWords, entry.trust));
  }
  const Features& about = entry.about;
  toml.list<Bottleneck>("bottlenecks", kBottleneckWords, about.bottlenecks);
  toml.list<Theme>("axes", kThemeWords, about.axes);
  toml.list("changes", about.changes);
  toml.list("devices", about.devices);
  toml.list("topology", about.topology);
  toml.list<describe::Framework>("frameworks", describe::kFrameworkWords, about.frameworks);
  toml.list<ModelClass>("models", kModelClassWords, about.models);
  toml.text("model", about.model);
  if (about.parameters_billion != 0.0) {
    toml.number("parameters_billion", about.parameters_billion);
  }
  toml.count("device_count", about.device_count);
  toml.count("sequence", entry.sequence);
  toml.count("global_batch", entry.global_batch);
  toml.text("metric", entry.measured.metric);
  toml.number("value_before", entry.measured.before);
  toml.number("value_after", entry.measured.after);
  toml.number("effect_percent", entry.measured.effect_percent);
  if (entry.measured.fate != Fate::kNumber) {
    toml.text("fate", describe::word_of<Fate>(kFateWords, entry.measured.fate));
  }
  return fmt::format("[{}]\n{}{}", entry.id, toml.lines(), entry.do_not ? "do_not = true\n" : "");
}

}  // namespace

std::string entries_toml(std::span<const Entry> entries) {
  std::string text;
  for (const Entry& entry : entries) {
    text += (text.empty() ? "" : "\n") + entry_toml(entry);
  }
  return text;
}

}  // namespace sextant::kb
