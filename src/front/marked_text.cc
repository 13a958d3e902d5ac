#include "front/marked_text.h"

#include <algorithm>

namespace sextant::front {
namespace {

struct Marks {
  std::string_view open;
  std::string_view close;
};
constexpr Marks kOfParameter{"‹", "›"};
constexpr Marks kOfUseCase{"«", "»"};

std::string replaced(std::string_view text, const Marks& marks, const Spell& spell) {
  std::string result;
  while (true) {
    const std::size_t open = text.find(marks.open);
    const std::size_t begin = open + marks.open.size();
    const std::size_t close = open == std::string_view::npos ? open : text.find(marks.close, begin);
    if (close == std::string_view::npos) {
      return result.append(text);
    }
    const auto word = spell(text.substr(begin, close - begin));
    result += text.substr(0, open);
    if (word) {
      result += *word;
      text.remove_prefix(close + marks.close.size());
    } else {
      result += marks.open;
      text.remove_prefix(begin);
    }
  }
}

}  // namespace

std::string with_spelling(std::string_view text, const Spelling& spelling) {
  return replaced(replaced(text, kOfParameter, spelling.parameter), kOfUseCase, spelling.use_case);
}

const app::Parameter* find_parameter(const app::UseCase& use_case, std::string_view name) {
  const auto found = std::ranges::find(use_case.parameters, name, &app::Parameter::name);
  return found == use_case.parameters.end() ? nullptr : &*found;
}

bool is_known_parameter(std::string_view name) {
  return app::is_setting(name) ||
         std::ranges::any_of(app::use_cases(), [&](const app::UseCase& one) {
           return find_parameter(one, name) != nullptr;
         });
}

}  // namespace sextant::front
