#include "capture/masks.h"

#include <algorithm>

#include "base/text.h"
#include "kb/secrets.h"

namespace sextant::capture {
namespace {

constexpr std::string_view kMasked = "[secret]";
// A shorter value stands in too many places that are none.
constexpr std::size_t kShortestSecret = 6;

class Masks {
 public:
  void learn(std::string_view name, std::string_view value) {
    if (is_secret_name(name) && value.size() >= kShortestSecret && !to_double(value)) {
      values_.emplace_back(value);
    }
  }

  [[nodiscard]] std::string masked(std::string text) const {
    for (const std::string& value : values_) {
      for (std::size_t at = text.find(value); at != std::string::npos;
           at = text.find(value, at + kMasked.size())) {
        text.replace(at, value.size(), kMasked);
      }
    }
    return kb::redacted(text);
  }

 private:
  std::vector<std::string> values_;
};

// "--api-key xyz": the flag names what the next word is.
void mask_flag_values(std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!words[i].starts_with('-') || words[i].find('=') != std::string::npos ||
        words[i + 1].starts_with('-')) {
      continue;
    }
    const std::string both = words[i] + "=" + words[i + 1];
    if (kb::redacted(both) != both) {
      words[i + 1] = kMasked;
    }
  }
}

}  // namespace

bool is_secret_name(std::string_view variable) {
  const std::string name = to_lower(variable);
  for (const std::string_view part : split(name, '_')) {
    if (is_one_of(part, {"key", "token", "secret", "password", "passwd", "pass", "credential",
                         "credentials", "cookie", "auth", "apikey", "pat"})) {
      return true;
    }
  }
  return false;
}

void mask_secrets(const std::vector<std::string>& environment, emit::CaptureRecord& record) {
  Masks masks;
  for (const std::string& variable : environment) {
    const std::size_t equals = variable.find('=');
    if (equals != std::string::npos) {
      masks.learn(std::string_view(variable).substr(0, equals),
                  std::string_view(variable).substr(equals + 1));
    }
  }
  for (const emit::CapturedCall& call : record.calls) {
    for (const auto& [name, value] : call.environment) {
      masks.learn(name, value);
    }
  }
  const auto mask_all = [&](std::vector<std::string>& texts) {
    mask_flag_values(texts);
    for (std::string& text : texts) {
      text = masks.masked(std::move(text));
    }
  };
  mask_all(record.command);
  mask_all(record.batch);
  mask_all(record.notes);
  for (emit::CapturedCall& call : record.calls) {
    mask_all(call.words);
    std::erase_if(call.environment, [](const auto& one) { return is_secret_name(one.first); });
    for (auto& [name, value] : call.environment) {
      value = masks.masked(std::move(value));
    }
  }
  for (emit::CapturedFile& file : record.files) {
    file.text = masks.masked(std::move(file.text));
  }
}

}  // namespace sextant::capture
