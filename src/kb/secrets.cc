#include "kb/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "base/text.h"

namespace sextant::kb {
namespace {

constexpr std::string_view kRedacted = "[secret]";
// The beginnings that services give their keys, and how long what follows is at least.
constexpr std::array<std::pair<std::string_view, std::size_t>, 19> kKeyBeginnings{
    {{"sk-", 16},
     {"sk_live_", 12},
     {"sk_test_", 12},
     {"rk_live_", 12},
     {"ghp_", 16},
     {"gho_", 16},
     {"ghs_", 16},
     {"ghu_", 16},
     {"github_pat_", 16},
     {"glpat-", 12},
     {"hf_", 16},
     {"AKIA", 12},
     {"ASIA", 12},
     {"AIza", 20},
     {"xoxb-", 10},
     {"xoxp-", 10},
     {"xoxa-", 10},
     {"npm_", 20},
     {"pypi-", 16}}};
// Names whose values are secrets, in lower case.
constexpr std::array<std::string_view, 13> kSecretNames{
    "api_key",    "api-key",    "apikey",     "password",    "passwd",     "secret",       "token",
    "access_key", "access-key", "secret_key", "private_key", "credential", "authorization"};
constexpr std::string_view kPemBegin = "-----BEGIN ";
constexpr std::string_view kPemPrivate = "PRIVATE KEY-----";
constexpr std::string_view kPemEnd = "-----END ";
constexpr std::size_t kShortestJwtPart = 8;
constexpr std::size_t kLongestAddressUser = 200;

bool is_word_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

bool is_key_letter(char c) {
  return is_word_letter(c) || c == '+' || c == '/' || c == '.' || c == '=' || c == '~';
}

// At most so many: what repeats the beginning of a key must not be walked again from each.
constexpr std::size_t kLongestSecret = 4'096;

template <typename Is>
std::size_t run_length(std::string_view text, const Is& is) {
  text = text.substr(0, kLongestSecret);
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is) - text.begin());
}

// How much of the text, from its beginning on, stays and how much is the secret behind that.
struct Found {
  std::size_t kept = 0;
  std::size_t secret = 0;
};

std::optional<Found> known_key(std::string_view rest) {
  for (const auto& [beginning, least] : kKeyBeginnings) {
    if (rest.starts_with(beginning)) {
      const std::size_t length = run_length(rest.substr(beginning.size()), is_word_letter);
      if (length >= least) {
        return Found{0, beginning.size() + length};
      }
    }
  }
  return std::nullopt;
}

// "eyJ….eyJ….…"
std::optional<Found> web_token(std::string_view rest) {
  if (!rest.starts_with("eyJ")) {
    return std::nullopt;
  }
  const std::size_t first = run_length(rest, is_word_letter);
  if (first < kShortestJwtPart || rest.substr(first, 4) != ".eyJ") {
    return std::nullopt;
  }
  return Found{0, run_length(rest, is_key_letter)};
}

std::optional<Found> private_key(std::string_view rest) {
  if (!rest.starts_with(kPemBegin)) {
    return std::nullopt;
  }
  constexpr std::size_t kLongestPemTitle = 100;
  if (rest.substr(0, kLongestPemTitle).find(kPemPrivate) == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t end = rest.find(kPemEnd);
  if (end == std::string_view::npos) {
    return Found{0, rest.size()};
  }
  const std::size_t dashes = rest.find("-----", end + kPemEnd.size());
  return Found{0, dashes == std::string_view::npos ? rest.size() : dashes + 5};
}

std::optional<Found> bearer(std::string_view rest) {
  constexpr std::string_view kBearer = "bearer ";
  if (to_lower(rest.substr(0, kBearer.size())) != kBearer) {
    return std::nullopt;
  }
  const std::size_t length = run_length(rest.substr(kBearer.size()), is_key_letter);
  return length >= 8 ? std::optional<Found>({kBearer.size(), length}) : std::nullopt;
}

// "://user:password@host"
std::optional<Found> address_password(std::string_view rest) {
  constexpr std::string_view kScheme = "://";
  if (!rest.starts_with(kScheme)) {
    return std::nullopt;
  }
  const std::string_view authority =
      rest.substr(kScheme.size(), std::min(rest.find_first_of("/ \t\r\n\"'", kScheme.size()),
                                           kScheme.size() + kLongestAddressUser) -
                                      kScheme.size());
  const std::size_t at = authority.rfind('@');
  const std::size_t colon = authority.find(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon + 1 >= at) {
    return std::nullopt;
  }
  return Found{kScheme.size() + colon + 1, at - colon - 1};
}

// Quotes (of JSON in JSON too), blanks, '=' and ':' between a name and its value.
std::size_t to_value(std::string_view rest, bool& assigned) {
  std::size_t at = 0;
  while (at < rest.size() &&
         std::string_view("=:\"'\\ \t").find(rest[at]) != std::string_view::npos) {
    assigned = assigned || rest[at] == '=' || rest[at] == ':';
    at += 1;
  }
  return at;
}

bool begins_with_name(std::string_view rest, std::string_view name) {
  if (rest.size() < name.size()) {
    return false;
  }
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(rest[i])) != name[i]) {
      return false;
    }
  }
  // "token_id" is one; "tokens" and "secretary" are other words.
  return rest.size() == name.size() ||
         std::isalpha(static_cast<unsigned char>(rest[name.size()])) == 0;
}

std::size_t value_length(std::string_view text) {
  return run_length(text, [](char c) {
    return std::string_view("\"'\\ \t\r\n,;}&").find(c) == std::string_view::npos;
  });
}

// api_key = "…", "password": "…", AWS_SECRET_ACCESS_KEY=…, Authorization: Basic …
std::optional<Found> named_value(std::string_view rest) {
  const auto* name = std::find_if(kSecretNames.begin(), kSecretNames.end(),
                                  [rest](auto one) { return begins_with_name(rest, one); });
  if (name == kSecretNames.end()) {
    return std::nullopt;
  }
  std::size_t begin = name->size() + run_length(rest.substr(name->size()), is_word_letter);
  bool assigned = false;
  begin += to_value(rest.substr(begin), assigned);
  std::size_t length = value_length(rest.substr(begin));
  const std::string scheme = to_lower(rest.substr(begin, length));
  if ((scheme == "bearer" || scheme == "basic") && begin + length < rest.size()) {
    begin += length + 1;
    length = value_length(rest.substr(begin));
  }
  // "max_token=4096" is a number of them.
  const std::string_view value = rest.substr(begin, length);
  if (!assigned || length < 4 || to_double(value) || value.starts_with(kRedacted)) {
    return std::nullopt;
  }
  return Found{begin, length};
}

// Where a secret may begin: not in the middle of a word.
std::optional<Found> secret_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (auto found = address_password(rest)) {
    return found;
  }
  if (auto found = named_value(rest)) {
    return found;
  }
  if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) {
    return std::nullopt;
  }
  for (const auto look : {known_key, web_token, private_key, bearer}) {
    if (auto found = look(rest)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string redacted(std::string_view text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const auto found = secret_at(text, at);
    if (!found) {
      kept += text[at];
      at += 1;
      continue;
    }
    kept += text.substr(at, found->kept);
    kept += kRedacted;
    at += found->kept + found->secret;
  }
  return kept;
}

bool has_secret(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (secret_at(text, at)) {
      return true;
    }
  }
  return false;
}

}  // namespace sextant::kb
