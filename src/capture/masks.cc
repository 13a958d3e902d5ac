#include "capture/masks.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <initializer_list>
#include <set>
#include <utility>

#include "base/text.h"
#include "kb/secrets.h"

namespace sextant::capture {
namespace {

constexpr std::string_view kMasked = "[secret]";
// A shorter value stands in too many places that are none.
constexpr std::size_t kShortestSecret = 6;
// What the user has comes first; a script that names more is up to no good.
constexpr std::size_t kMostSecrets = 1'000;

bool ends_with_one_of(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

// Of these a number is a secret too; "PWD" is where one is.
bool is_password_name(std::string_view variable) {
  const std::string name = to_lower(variable);
  return !is_one_of(name, {"pwd", "oldpwd"}) &&
         ends_with_one_of(name, {"password", "passwd", "pwd", "passphrase"});
}

// "--hub-password", "--cookie"; not "--text-key", which names a column.
bool is_secret_flag(std::string_view flag) {
  return is_password_name(flag) ||
         ends_with_one_of(to_lower(flag), {"-secret", "-cookie", "-auth", "-apikey", "_secret",
                                           "_cookie", "_auth", "_apikey"});
}

bool can_be_secret(std::string_view name, std::string_view value) {
  // "BASE_PWD=/work", "--pwd /work" of containers: where, not a password.
  if (to_lower(name).ends_with("pwd") && value.starts_with('/')) {
    return false;
  }
  return !value.empty() && (is_password_name(name) || !to_double(value));
}

// The longest first, so that no part of one is replaced before it.
struct LongerFirst {
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};

class Masks {
 public:
  void learn(std::string_view name, std::string_view value) {
    if (is_secret_name(name) && can_be_secret(name, value)) {
      learn(value);
    }
  }
  void learn(std::string_view secret) {
    if (secret.size() >= kShortestSecret && values_.size() < kMostSecrets) {
      values_.emplace(secret);
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
  std::set<std::string, LongerFirst> values_;
};

bool is_name_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Where the name begins that ends before `end`.
std::size_t name_begin(std::string_view text, std::size_t end) {
  while (end > 0 && is_name_letter(text[end - 1])) {
    --end;
  }
  return end;
}

// "ALL,NAME=value,OTHER=1": where the value from `begin` on ends. A value may have commas.
std::size_t value_end(std::string_view word, std::size_t begin, bool whole) {
  std::size_t comma = word.size();  // the last one that only letters of a name have followed
  for (std::size_t at = begin; at < word.size(); ++at) {
    const char c = word[at];
    if (!whole && std::string_view(" \t\n\"';").find(c) != std::string_view::npos) {
      return at;
    }
    if (c == '=' && comma + 1 < at) {
      return comma;
    }
    comma = c == ',' ? at : is_name_letter(c) ? comma : word.size();
  }
  return word.size();
}

// Variables are in capitals; "text_key=content" is an argument of a training.
bool is_secret_assignment(std::string_view name) {
  const bool capitals = std::ranges::none_of(
      name, [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; });
  return is_password_name(name) || (capitals && is_secret_name(name));
}

// "NAME=value", "--env=NAME=value", "--export=ALL,NAME=value", "A=1 NAME=value torchrun".
void mask_assignments(std::string& word, Masks& masks) {
  const std::size_t first = word.find('=');
  const bool option = word.starts_with('-');
  for (std::size_t equals = first; equals != std::string::npos;
       equals = word.find('=', equals + 1)) {
    const std::size_t begin = name_begin(word, equals);
    const std::string name = word.substr(begin, equals - begin);
    const bool flag = option && equals == first && is_secret_flag(word.substr(0, equals));
    if (!flag && !is_secret_assignment(name)) {
      continue;
    }
    const std::size_t end = value_end(word, equals + 1, option || begin == 0);
    const std::string value = word.substr(equals + 1, end - equals - 1);
    if (can_be_secret(name, value)) {
      masks.learn(name, value);
      word.replace(equals + 1, value.size(), kMasked);
    }
  }
}

// "--api-key xyz": the flag names what the next word is.
void mask_flag_values(std::vector<std::string>& words, Masks& masks) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    std::string& value = words[i + 1];
    if (!words[i].starts_with('-') || words[i].find('=') != std::string::npos || value.empty() ||
        value.starts_with('-')) {
      continue;
    }
    std::string both = words[i] + "=" + value;
    std::ranges::replace(both, ' ', '_');  // a word with blanks is one value
    if (is_secret_flag(words[i]) && can_be_secret(words[i], value)) {
      masks.learn(value);
      value = kMasked;
    } else if (kb::redacted(both) != both) {
      value = kMasked;
    }
  }
}

void learn_variables(const std::vector<std::string>& environment, const emit::CaptureRecord& record,
                     Masks& masks) {
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
}

// Everything that a record holds as text, and is no list of words.
void for_each_text(emit::CaptureRecord& record, const std::function<void(std::string&)>& then) {
  then(record.folder);
  std::ranges::for_each(record.notes, then);
  for (emit::CapturedCall& call : record.calls) {
    then(call.folder);
    for (auto& [name, value] : call.environment) {
      then(value);
    }
  }
  for (emit::CapturedFile& file : record.files) {
    then(file.path);
    then(file.text);
  }
}

}  // namespace

bool is_secret_name(std::string_view variable) {
  const std::string name = to_lower(variable);
  if (is_password_name(name) || ends_with_one_of(name, {"token", "secret", "apikey"})) {
    return true;
  }
  for (const std::string_view part : split(name, '_')) {
    if (is_one_of(part, {"key", "token", "secret", "password", "passwd", "pass", "credential",
                         "credentials", "cookie", "auth", "apikey", "pat"})) {
      return true;
    }
  }
  return false;
}

void mask_secrets(const std::vector<std::string>& environment, emit::CaptureRecord& record,
                  std::string& output) {
  Masks masks;
  learn_variables(environment, record, masks);
  std::vector<std::vector<std::string>*> lists{&record.command, &record.batch};
  for (emit::CapturedCall& call : record.calls) {
    std::erase_if(call.environment, [](const auto& one) { return is_secret_name(one.first); });
    lists.push_back(&call.words);
  }
  for (std::vector<std::string>* words : lists) {
    mask_flag_values(*words, masks);
    for (std::string& word : *words) {
      mask_assignments(word, masks);
    }
  }
  const auto mask = [&](std::string& text) { text = masks.masked(std::move(text)); };
  for (std::vector<std::string>* words : lists) {
    std::ranges::for_each(*words, mask);
  }
  for_each_text(record, mask);
  mask(output);
}

}  // namespace sextant::capture
