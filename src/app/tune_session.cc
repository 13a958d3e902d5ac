#include "app/tune_session.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"

namespace sextant::app {
namespace {

constexpr std::string_view kStartLine = "tune";

// So that a value is one field of one line.
std::string as_field(std::string_view text) {
  std::string field;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '%' || byte == 0x7F) {
      field += fmt::format("%{:02x}", byte);
    } else {
      field += c;
    }
  }
  return field;
}

int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::optional<std::string> from_field(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '%') {
      text += field[i];
      continue;
    }
    const int high = i + 2 < field.size() ? hex_digit(field[i + 1]) : -1;
    const int low = i + 2 < field.size() ? hex_digit(field[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return std::nullopt;
    }
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return text;
}

}  // namespace

std::string start_text(const SessionStart& start) {
  std::string text = fmt::format("{}\n", kStartLine);
  for (const auto& [name, value] : start.words) {
    text += fmt::format("given\t{}\t{}\n", as_field(name), as_field(value));
  }
  for (const auto& [name, hash] : start.inputs) {
    text += fmt::format("input\t{}\t{}\n", as_field(name), as_field(hash));
  }
  return text;
}

std::optional<SessionStart> parse_start(std::string_view text) {
  const std::vector<std::string_view> lines = split(text, '\n');
  if (lines.empty() || lines.front() != kStartLine) {
    return std::nullopt;
  }
  SessionStart start;
  for (const std::string_view line : lines) {
    const std::vector<std::string_view> fields = split(line, '\t');
    if (fields.size() != 3) {
      continue;
    }
    const auto name = from_field(fields[1]);
    const auto value = from_field(fields[2]);
    if (!name || !value) {
      return std::nullopt;
    }
    if (fields[0] == "given") {
      start.words.emplace_back(*name, *value);
    } else if (fields[0] == "input") {
      start.inputs.emplace_back(*name, *value);
    }
  }
  return start;
}

std::string session_name(const SessionStart& start) {
  constexpr std::size_t kDigits = 12;
  return fmt::format("tune-{}", sha256_hex(start_text(start)).substr(0, kDigits));
}

SessionLog::SessionLog(const std::filesystem::path& file, std::string name, std::string now,
                       bool logs)
    : name_(std::move(name)), now_(std::move(now)) {
  if (!logs || file.empty()) {
    return;
  }
  auto log = kb::Log::open(file, kb::Access::kWrite);
  if (log) {
    log_ = std::move(*log);
  } else {
    failure_ = to_text(log.error());
  }
}

void SessionLog::note(kb::EventKind kind, std::string text) {
  if (!log_) {
    return;
  }
  if (text.size() > kb::Log::kLongestText) {
    text = printable(text.substr(0, kb::Log::kLongestText / 8), kb::Log::kLongestText / 8);
  }
  const auto place = log_->append(name_, {.kind = kind, .at = now_, .text = std::move(text)});
  if (!place) {
    failure_ = to_text(place.error());
    log_.reset();
  }
}

Result<Knowledge> knowledge_of(const std::string& kb_word, bool without, const Context& context) {
  Knowledge knowledge;
  knowledge.provenance.tool_version = explain::tool_version();
  if (without) {
    return knowledge;
  }
  SEXTANT_TRY(KnownEntries known, known_entries(kb_file(kb_word, context), context));
  knowledge.entries = std::move(known.entries);
  knowledge.provenance = std::move(known.provenance);
  SEXTANT_TRY(kb::Index index, kb::Index::of(knowledge.entries));
  knowledge.index = std::make_shared<kb::Index>(std::move(index));
  return knowledge;
}

agents::Tools session_tools(const Knowledge& knowledge, SessionLog& log) {
  agents::Tools tools;
  tools.note = [&log](kb::EventKind kind, std::string text) { log.note(kind, std::move(text)); };
  if (knowledge.index == nullptr) {
    return tools;
  }
  tools.search =
      [index = knowledge.index](const kb::Question& question) -> Result<std::vector<kb::Entry>> {
    SEXTANT_TRY(const std::vector<kb::Ranked> ranked, index->search(question));
    std::vector<kb::Entry> found;
    for (const kb::Ranked& one : ranked) {
      found.push_back(index->entries()[one.entry]);
    }
    return found;
  };
  return tools;
}

}  // namespace sextant::app
