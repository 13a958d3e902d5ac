#include "front/cli/questions.h"

#include <cstddef>
#include <cstdio>

#include "base/text.h"

namespace sextant::front {
namespace {

constexpr std::size_t kLongestQuestion = 4096;

}  // namespace

std::optional<std::string> next_question(std::string_view so_far) {
  std::fwrite(so_far.data(), 1, so_far.size(), stderr);
  std::fputs("\n? ", stderr);
  std::string line;
  for (int c = std::getchar(); c != EOF && c != '\n'; c = std::getchar()) {
    if (line.size() < kLongestQuestion) {
      line += static_cast<char>(c);
    }
  }
  const std::string_view question = trimmed(line);
  if (question.empty()) {
    return std::nullopt;
  }
  return std::string(question);
}

}  // namespace sextant::front
