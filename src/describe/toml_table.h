// Hostile TOML, read safely: bounded size and depth, errors with file, line and column. The only
// place of describe/ that knows the TOML library; everything else sees TomlTable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/sourced.h"

namespace sextant::describe {

// A read-only view of one table; copies share the document.
class TomlTable {
 public:
  static Result<TomlTable> parse(std::string_view text, std::string_view where);

  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] std::vector<std::string> keys_as_written() const;  // from the top of the file

  // Required values. An Error names the file, line and column, and what is allowed.
  [[nodiscard]] Result<std::string> text(std::string_view key) const;
  [[nodiscard]] Result<std::int64_t> integer(std::string_view key, std::int64_t least,
                                             std::int64_t most) const;
  [[nodiscard]] Result<bool> boolean(std::string_view key) const;
  [[nodiscard]] Result<TomlTable> table(std::string_view key) const;
  // An array of strings; empty where the key is absent.
  [[nodiscard]] Result<std::vector<std::string>> texts(std::string_view key) const;

  // A sourced value: a table of value (with unit), kind and source, all three required and no more.
  // `reader(text, where)` reads the value.
  template <typename T>
  [[nodiscard]] Result<Sourced<T>> sourced(std::string_view key,
                                           Result<T> (*reader)(std::string_view,
                                                               std::string_view)) const;
  // The same; nothing where the key is absent.
  template <typename T>
  [[nodiscard]] Result<std::optional<Sourced<T>>> optional_sourced(
      std::string_view key, Result<T> (*reader)(std::string_view, std::string_view)) const;

  // An Error on the first key that is not in the list.
  [[nodiscard]] Result<void> only(std::span<const std::string_view> allowed) const;

  // "cluster.toml:3:7", of the table or of a key in it.
  [[nodiscard]] std::string where() const;
  [[nodiscard]] std::string where(std::string_view key) const;

 private:
  struct Document;
  struct SourcedText {
    std::string value;
    SourceKind kind = SourceKind::kAssumed;
    std::string source;
    std::string where;
  };
  [[nodiscard]] Result<SourcedText> sourced_text(std::string_view key) const;

  std::shared_ptr<const Document> document_;
  const void* table_ = nullptr;  // a toml::table of the document
};

// One value of a file that is not the project's own, wherever it stands.
struct TomlEntry {
  std::string key;  // dotted: "parallelism.tensor_parallel_degree"
  // One text a value; of a list its elements, an inner list joined by commas. Numbers as spelled.
  std::vector<std::string> values;
  std::int64_t line = 0;
  // The literal in the text, quotes included; length 0 where it is none (a list).
  std::size_t offset = 0;
  std::size_t length = 0;
};

// Every value in the order of the text. Tables in lists are numbered: "stages.0.name".
Result<std::vector<TomlEntry>> toml_entries(std::string_view text, std::string_view where);

template <typename T>
Result<Sourced<T>> TomlTable::sourced(std::string_view key,
                                      Result<T> (*reader)(std::string_view,
                                                          std::string_view)) const {
  SEXTANT_TRY(SourcedText read, sourced_text(key));
  SEXTANT_TRY(T value, reader(read.value, read.where));
  return Sourced<T>{value, read.kind, std::move(read.source)};
}

template <typename T>
Result<std::optional<Sourced<T>>> TomlTable::optional_sourced(
    std::string_view key, Result<T> (*reader)(std::string_view, std::string_view)) const {
  if (!has(key)) {
    return std::optional<Sourced<T>>();
  }
  SEXTANT_TRY(Sourced<T> value, sourced(key, reader));
  return std::optional<Sourced<T>>(std::move(value));
}

}  // namespace sextant::describe
