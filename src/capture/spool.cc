#include "capture/spool.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::capture {
namespace {

constexpr std::int64_t kMostField = std::int64_t{16} << 20U;
constexpr std::size_t kLongestFieldHead = 24;

void put_field(std::string& bytes, char kind, std::string_view text) {
  bytes += fmt::format("{}{}:", kind, text.size());
  bytes += text;
}

// "w5:hello": takes one field off the front; nothing where none stands there.
struct Field {
  char kind = ' ';
  std::string_view text;
};
std::optional<Field> take_field(std::string_view& rest) {
  const std::size_t colon = rest.substr(0, kLongestFieldHead).find(':');
  if (colon == std::string_view::npos || colon < 2) {
    return std::nullopt;
  }
  const auto length = to_integer(rest.substr(1, colon - 1));
  if (!length || *length < 0 || *length > kMostField ||
      static_cast<std::size_t>(*length) > rest.size() - colon - 1) {
    return std::nullopt;
  }
  const Field field{rest[0], rest.substr(colon + 1, static_cast<std::size_t>(*length))};
  rest.remove_prefix(colon + 1 + field.text.size());
  return field;
}

void keep_field(const Field& field, SpooledCall& call) {
  switch (field.kind) {
    case 'w':
      call.words.emplace_back(field.text);
      break;
    case 'd':
      call.folder = field.text;
      break;
    case 'e':
      call.environment.emplace_back(field.text);
      break;
    case 'o':
      call.outer = field.text;
      break;
    case 'l':
      call.launches = true;
      break;
    case 'q':
      call.question = field.text;
      break;
    case 'p':
      call.files.emplace_back(field.text, std::string());
      break;
    case 't':
      if (!call.files.empty()) {
        call.files.back().second = field.text;
      }
      break;
    default:
      break;  // of a later version
  }
}

}  // namespace

std::string spooled(const SpooledCall& call) {
  std::string bytes;
  for (const std::string& word : call.words) {
    put_field(bytes, 'w', word);
  }
  put_field(bytes, 'd', call.folder);
  for (const std::string& variable : call.environment) {
    put_field(bytes, 'e', variable);
  }
  put_field(bytes, 'o', call.outer);
  if (call.launches) {
    put_field(bytes, 'l', "");
  }
  put_field(bytes, 'q', call.question);
  for (const auto& [path, text] : call.files) {
    put_field(bytes, 'p', path);
    put_field(bytes, 't', text);
  }
  return bytes;
}

Result<SpooledCall> unspooled(std::string_view bytes, std::string_view id) {
  SpooledCall call;
  call.id = id;
  while (!bytes.empty()) {
    const auto field = take_field(bytes);
    if (!field) {
      return invalid("these are not the bytes of a call", std::string(id));
    }
    keep_field(*field, call);
  }
  if (call.words.empty()) {
    return invalid("a call without words", std::string(id));
  }
  return call;
}

std::string answers_text(const Answers& answers) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n", answers.devices_per_node, answers.nodes,
                     answers.stand_in_devices, answers.stand_in_nodes, answers.device_name);
}

Answers answers_of(std::string_view text) {
  const std::vector<std::string_view> lines = split(text, '\n');
  Answers answers;
  const std::array<int*, 4> numbers{&answers.devices_per_node, &answers.nodes,
                                    &answers.stand_in_devices, &answers.stand_in_nodes};
  constexpr std::int64_t kMost = 1'000'000;
  for (std::size_t i = 0; i < numbers.size() && i < lines.size(); ++i) {
    *numbers.at(i) =
        static_cast<int>(std::clamp<std::int64_t>(to_integer(lines[i]).value_or(0), 0, kMost));
  }
  if (lines.size() > numbers.size()) {
    answers.device_name = lines[numbers.size()];
  }
  return answers;
}

}  // namespace sextant::capture
