#include "base/csv.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"

namespace sextant {
namespace {

constexpr Bytes kMostText = 64_MiB;
constexpr std::size_t kMostColumns = 1024;

// Reads one record after another. Unescapes quoted fields in place: the text only gets shorter.
class Reader {
 public:
  Reader(std::string& text, std::size_t start) : text_(text), at_(start) {}

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] std::int64_t line() const { return line_; }

  // Appends the fields of the next record. An Error's `what` only; the caller knows the file.
  Result<std::size_t> record(std::vector<std::string_view>& fields) {
    std::size_t count = 0;
    for (;;) {
      SEXTANT_TRY(const std::string_view field, next_field());
      fields.push_back(field);
      if (++count > kMostColumns) {
        return invalid("more than 1024 columns");
      }
      if (done()) {
        return count;
      }
      const char separator = text_[at_];
      at_ += 1;
      if (separator == ',') {
        continue;
      }
      if (separator == '\r' && at_ < text_.size() && text_[at_] == '\n') {
        at_ += 1;
      }
      line_ += 1;
      return count;
    }
  }

 private:
  Result<std::string_view> next_field() {
    if (done() || text_[at_] != '"') {
      const std::size_t start = at_;
      at_ = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      return std::string_view(text_).substr(start, at_ - start);
    }
    const std::int64_t opened = line_;
    const std::size_t start = ++at_;
    std::size_t write = start;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') {
          break;
        }
        at_ += 1;  // "" inside quotes is one quote
      }
      line_ += text_[at_] == '\n' ? 1 : 0;
      text_[write++] = text_[at_];
    }
    if (done()) {
      return invalid(fmt::format("the quote opened on line {} is never closed", opened));
    }
    at_ += 1;
    if (!done() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r') {
      return invalid("text after a closing quote", {}, "a comma or the end of the line");
    }
    return std::string_view(text_).substr(start, write - start);
  }

  std::string& text_;
  std::size_t at_;
  std::int64_t line_ = 1;
};

tl::unexpected<Error> at_line(Error error, const std::string& where, std::int64_t line) {
  error.where = fmt::format("{}:{}", where, line);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

Result<CsvTable> CsvTable::parse(std::string text, std::string where) {
  CsvTable table;
  table.where_ = std::move(where);
  table.text_ = std::make_unique<std::string>(std::move(text));
  SEXTANT_CHECK_OK(checked_text(*table.text_, kMostText, table.where_));

  const std::size_t start = table.text_->starts_with("\xEF\xBB\xBF") ? 3 : 0;
  Reader reader(*table.text_, start);
  if (reader.done()) {
    return invalid("the table is empty", table.where_, "a header line, then rows");
  }
  if (auto header = reader.record(table.header_); !header) {
    return at_line(header.error(), table.where_, 1);
  }
  const std::size_t width = table.header_.size();
  while (!reader.done()) {
    const std::int64_t line = reader.line();
    const auto count = reader.record(table.fields_);
    if (!count) {
      return at_line(count.error(), table.where_, reader.line());
    }
    if (*count == 1 && width > 1 && table.fields_.back().empty() && reader.done()) {
      table.fields_.pop_back();
      break;
    }
    if (*count != width) {
      return invalid(fmt::format("{} fields, the header has {}", *count, width),
                     fmt::format("{}:{}", table.where_, line), fmt::format("{} fields", width));
    }
    table.lines_.push_back(line);
  }
  return table;
}

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - header_.begin());
}

std::string_view CsvTable::field(std::size_t row, std::string_view name) const {
  const auto index = column(name);
  return index ? at(row, *index) : std::string_view();
}

std::string CsvTable::where(std::size_t row) const {
  return fmt::format("{}:{}", where_, lines_[row]);
}

std::string csv_field(std::string_view value) {
  if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(value);
  }
  std::string quoted = "\"";
  for (const char c : value) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace sextant
