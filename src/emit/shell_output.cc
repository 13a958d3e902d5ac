// What commands print, where it follows from words that are known. Nothing is run.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "emit/shell_arithmetic.h"
#include "emit/shell_reader.h"

namespace sextant::emit {
namespace {

bool is_known_here(const ShellRuns& runs, const ShellSpot& spot) {
  return std::ranges::all_of(runs, [&](const ShellRun& run) {
    return run.why.empty() &&
           (run.branch == 0 || std::ranges::find(spot.branches, run.branch) != spot.branches.end());
  });
}

// The first word, which decides whether it is worth reading.
std::string_view first_word(std::string_view text) {
  text = trimmed(text);
  return text.substr(0, text.find_first_of(" \t\n<;|&"));
}

void drop_last_lines(ShellRuns& runs) {
  while (!runs.empty()) {
    std::string& text = runs.back().text;
    text.erase(text.find_last_not_of("\r\n") + 1);
    if (!text.empty()) {
      return;
    }
    runs.pop_back();
  }
}

// With a line end, a tab and a backslash for "\n", "\t" and "\\"; nothing where there are other
// escapes.
std::optional<std::string> unescaped(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      made += text[i];
      continue;
    }
    ++i;
    const std::size_t which =
        i < text.size() ? std::string_view("nt\\").find(text[i]) : std::string_view::npos;
    if (which == std::string_view::npos) {
      return std::nullopt;
    }
    made += "\n\t\\"[which];
  }
  return made;
}

// "02" of printf's "%02d" and its like; nothing where the format asks for more.
std::optional<std::string> formatted(std::string_view written,
                                     const std::vector<std::string>& values) {
  const std::optional<std::string> decoded = unescaped(written);
  if (!decoded) {
    return std::nullopt;
  }
  const std::string_view format = *decoded;
  std::string made;
  std::size_t used = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      made += format[i];
      continue;
    }
    const std::size_t sign = format.find_first_not_of("0123456789", i + 1);
    if (sign == std::string_view::npos || (format[sign] != 's' && format[sign] != 'd')) {
      return std::nullopt;
    }
    const std::string_view width = format.substr(i + 1, sign - i - 1);
    std::string value = used < values.size() ? values[used] : std::string();
    ++used;
    constexpr std::int64_t kWidest = 64;
    const auto wanted = static_cast<std::size_t>(
        std::clamp<std::int64_t>(to_integer(width).value_or(0), 0, kWidest));
    if (value.size() < wanted) {
      value.insert(0, std::string(wanted - value.size(), width.starts_with('0') ? '0' : ' '));
    }
    made += value;
    i = sign;
  }
  return used >= values.size() ? std::optional(made) : std::nullopt;
}

// seq LAST, seq FIRST LAST.
std::optional<std::string> sequence_lines(const std::vector<std::string>& words) {
  const auto first = words.size() == 2 ? to_integer(words[0]) : std::optional<std::int64_t>(1);
  const auto last = words.empty() ? std::nullopt : to_integer(words.back());
  constexpr std::int64_t kMost = 1024;
  constexpr std::int64_t kLargest = kMost * kMost;  // first of all: a difference may not fit
  const auto fits = [](const std::optional<std::int64_t>& one) {
    return one && *one >= -kLargest && *one <= kLargest;
  };
  if (words.size() > 2 || !fits(first) || !fits(last) || *last - *first > kMost) {
    return std::nullopt;
  }
  std::string text;
  for (std::int64_t number = *first; number <= *last; ++number) {
    text += std::to_string(number) + '\n';
  }
  return text;
}

std::optional<std::string> computed_text(std::string_view expression) {
  const auto value = arithmetic(
      expression, [](std::string_view) -> Result<std::int64_t> { return invalid("a name"); });
  return value ? std::optional(std::to_string(*value)) : std::nullopt;
}

// `bc` reads whole decimal numbers, and ^ is its power. What it reads otherwise than a script's
// arithmetic, 010 and 2--3 and comparisons, stays open.
std::optional<std::string> calculated(std::string_view expression) {
  constexpr std::string_view kDigits = "0123456789";
  std::string made;
  for (std::size_t at = 0; at < expression.size();) {
    const std::size_t end = std::min(expression.find_first_not_of(kDigits, at), expression.size());
    const std::string_view number = expression.substr(at, end - at);
    const char c = end < expression.size() ? expression[end] : ' ';
    if ((number.size() > 1 && number[0] == '0') ||
        std::string_view(" \t+-*/%^()").find(c) == std::string_view::npos ||
        (number.empty() && c != ' ' && c != '(' && c != ')' && made.ends_with(c))) {
      return std::nullopt;
    }
    made += number;
    made += c == '^' ? std::string("**") : std::string(1, c);
    at = end + 1;
  }
  return computed_text(made);
}

std::string file_of(std::string_view path, std::string_view ending) {
  std::string_view base = base_name(path);
  if (!ending.empty() && base.ends_with(ending) && base != ending) {
    base.remove_suffix(ending.size());
  }
  return std::string(base);
}

// Of words that are all known.
std::optional<std::string> printed_words(std::string_view program,
                                         const std::vector<std::string>& words) {
  if (program == "printf" && !words.empty()) {
    return formatted(words[0], {words.begin() + 1, words.end()});
  }
  if (program == "seq") {
    return sequence_lines(words);
  }
  if (program == "expr") {
    return computed_text(join(words, " "));
  }
  if (program == "basename" && !words.empty() && !words[0].starts_with('-')) {
    return file_of(words[0], words.size() > 1 ? words[1] : std::string());
  }
  return std::nullopt;
}

// "-n", "-e", "-E" and several in one; any other word of `echo` is printed.
bool is_echo_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' &&
         word.find_first_not_of("neE", 1) == std::string_view::npos;
}

// Escapes decoded run by run; nothing where one is not decoded, or begins in one run and ends in
// another. What is not known keeps its spelling.
std::optional<ShellRuns> unescaped_runs(ShellRuns runs) {
  for (ShellRun& run : runs) {
    if (!run.why.empty() || run.text.find('\\') == std::string::npos) {
      continue;
    }
    std::optional<std::string> text = unescaped(run.text);
    if (!text) {
      return std::nullopt;
    }
    run.text = *std::move(text);
    run.verbatim = false;
  }
  return runs;
}

// The words of `echo` with a line end, as far as it says so; nothing for escapes that stay open.
std::optional<ShellRuns> echoed(const std::vector<ShellRuns>& fields) {
  ShellRuns runs;
  bool escapes = false;
  bool ends_line = true;
  std::size_t first = 1;
  for (; first < fields.size() && is_echo_option(text_of(fields[first])); ++first) {
    const std::string option = text_of(fields[first]);
    ends_line = ends_line && option.find('n') == std::string::npos;
    const std::size_t last = option.find_last_of("eE");
    escapes = last == std::string::npos ? escapes : option[last] == 'e';
  }
  for (std::size_t i = first; i < fields.size(); ++i) {
    if (i > first) {
      runs.push_back({.text = " "});
    }
    runs.insert(runs.end(), fields[i].begin(), fields[i].end());
  }
  if (escapes) {
    std::optional<ShellRuns> decoded = unescaped_runs(std::move(runs));
    if (!decoded) {
      return std::nullopt;
    }
    runs = *std::move(decoded);
  }
  if (ends_line) {
    runs.push_back({.text = "\n"});
  }
  return runs;
}

}  // namespace

Result<std::optional<ShellRuns>> ShellReader::output_of(const ShellPiece& piece,
                                                        const ShellSpot& spot) {
  constexpr int kDeepest = 4;
  const bool worth =
      is_one_of(first_word(piece.text), {"cat", "echo", "printf", "seq", "expr", "basename", "bc"});
  if (!worth || outputs_ >= kDeepest || piece.length < piece.text.size()) {
    return std::nullopt;
  }
  inner_bytes_ += piece.text.size();
  if (inner_bytes_ > kMaxShellText) {
    return std::nullopt;
  }
  const auto inside = shell_commands(piece.text, name_);
  if (!inside || inside->commands.size() != 1 || inside->commands[0].words.empty() ||
      inside->commands[0].piped) {
    return std::nullopt;
  }
  const std::size_t opening = piece.length - piece.text.size() == 3 ? 2 : 1;  // $( or `
  const std::vector<ShellStretch> stretches =
      state_.stretches_of(piece.offset + opening, piece.text.size());
  const ShellState::Reading before = state_.read_from({piece.text, stretches});
  ++outputs_;
  const ShellCommand& command = inside->commands[0];
  std::optional<ShellRuns> printed;
  SEXTANT_TRY(const Fields fields, fields_of(command, spot));
  if (!fields.fields.empty()) {
    SEXTANT_TRY(printed, printed_by(command, *inside, fields.fields, spot));
  }
  --outputs_;
  state_.read_from(before);
  if (printed) {
    drop_last_lines(*printed);
  }
  return printed;
}

Result<std::optional<ShellRuns>> ShellReader::printed_by(const ShellCommand& command,
                                                         const ShellText& text,
                                                         const std::vector<ShellRuns>& fields,
                                                         const ShellSpot& spot) {
  const std::string program = text_of(fields[0]);
  if (program == "cat") {
    if (fields.size() == 1) {
      return input_of(command, text, spot);
    }
    const Written* written = fields.size() == 2 ? written_file(text_of(fields[1])) : nullptr;
    return written != nullptr && written->known ? std::optional(written->text) : std::nullopt;
  }
  if (program == "bc") {
    if (fields.size() > 1) {  // -l has fractions; a file
      return std::nullopt;
    }
    SEXTANT_TRY(const auto input, input_of(command, text, spot));
    if (!input || !is_known_here(*input, spot)) {
      return std::nullopt;
    }
    const auto value = calculated(trimmed(text_of(*input)));
    return value ? std::optional(ShellRuns{{.text = *value}}) : std::nullopt;
  }
  if (program == "echo") {
    return echoed(fields);
  }
  std::vector<std::string> words;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    if (!is_known_here(fields[i], spot)) {
      return std::nullopt;
    }
    words.push_back(text_of(fields[i]));
  }
  const auto printed = printed_words(program, words);
  return printed ? std::optional(ShellRuns{{.text = *printed}}) : std::nullopt;
}

}  // namespace sextant::emit
