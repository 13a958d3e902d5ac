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
