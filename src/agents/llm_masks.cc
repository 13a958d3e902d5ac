#include "agents/llm_masks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::agents {
namespace {

constexpr std::size_t kShortestName = 2;

bool is_word_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_path_character(char c) {
  return is_word_character(c) || static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("/\\.-~:@+%=").find(c) != std::string_view::npos;
}

// How long a path begins here; 0: none does.
std::size_t path_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_path_character(text[length])) {
    ++length;
  }
  while (length > 0 && std::string_view(".:=,").find(text[length - 1]) != std::string_view::npos) {
    --length;
  }
  const std::string_view word = text.substr(0, length);
  const std::size_t scheme = word.find("://");
  const bool is_rooted =
      word.starts_with('/') && word.find_first_not_of('/') != std::string_view::npos;
  const bool is_relative =
      word.starts_with("~/") || word.starts_with("./") || word.starts_with("../");
  const bool is_windows = word.size() > 3 && word[1] == ':' && word[2] == '\\';
  const bool has_scheme = scheme != std::string_view::npos && scheme > 0;
  return is_rooted || is_relative || is_windows || has_scheme ? length : 0;
}

bool begins_word(std::string_view text, std::size_t at) {
  return at == 0 || !is_word_character(text[at - 1]);
}
bool ends_word(std::string_view text, std::size_t end) {
  return end >= text.size() || !is_word_character(text[end]);
}

}  // namespace

Masks::Masks(const std::vector<std::string>& names) : is_on_(true) {
  for (const std::string& name : names) {
    const std::string lower = to_lower(trimmed(name));
    const bool is_known =
        std::ranges::find(names_, lower, &std::pair<std::string, std::string>::first) !=
        names_.end();
    if (lower.size() < kShortestName || is_known) {
      continue;
    }
    const std::string word = fmt::format("name_{}", names_.size() + 1);
    names_.emplace_back(lower, word);
    words_.emplace_back(word, std::string(trimmed(name)));
  }
  std::ranges::stable_sort(
      names_, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

// The word for what begins here, and how much of the text that is; 0: nothing is to be masked.
std::pair<std::string, std::size_t> Masks::word_at(std::string_view text, std::string_view lower,
                                                   std::size_t at) {
  for (const auto& [name, word] : names_) {
    if (lower.substr(at).starts_with(name) && ends_word(text, at + name.size())) {
      return {word, name.size()};
    }
  }
  // "train.sh:/data/x", "@/data/x" and "→/data/x" begin one; "a./b" and "~//" do not.
  const bool follows_path =
      at > 0 && std::string_view("/\\.~").find(text[at - 1]) != std::string_view::npos;
  const std::size_t length = follows_path ? 0 : path_length(text.substr(at));
  if (length == 0) {
    return {};
  }
  const std::string path(text.substr(at, length));
  auto known = std::ranges::find(words_, path, &std::pair<std::string, std::string>::second);
  if (known == words_.end()) {
    words_.emplace_back(fmt::format("path_{}", ++paths_), path);
    known = words_.end() - 1;
  }
  return {known->first, length};
}

std::string Masks::masked(std::string_view text) {
  if (!is_on_) {
    return std::string(text);
  }
  const std::string lower = to_lower(text);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (begins_word(text, at)) {
      const auto [word, length] = word_at(text, lower, at);
      if (length > 0) {
        out += word;
        at += length;
        continue;
      }
    }
    out += text[at++];
  }
  return out;
}

std::string Masks::plain(std::string_view text) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (begins_word(text, at)) {
      const auto word = std::ranges::find_if(words_, [&](const auto& one) {
        return text.substr(at).starts_with(one.first) && ends_word(text, at + one.first.size());
      });
      if (word != words_.end()) {
        out += word->second;
        at += word->first.size();
        continue;
      }
    }
    out += text[at++];
  }
  return out;
}

}  // namespace sextant::agents
