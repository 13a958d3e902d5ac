// Protocol buffers as tests make them: fields appended to a string.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "profile/wire.h"

namespace sextant::profile {

class WireWriter {
 public:
  WireWriter& number(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3U);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  WireWriter& real(int field, double value) {
    varint(static_cast<std::uint64_t>(field) << 3U | 1U);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  WireWriter& bytes(int field, std::string_view value) {
    varint(static_cast<std::uint64_t>(field) << 3U | 2U);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  WireWriter& message(int field, const WireWriter& inner) { return bytes(field, inner.bytes_); }
  WireWriter& packed(int field, std::initializer_list<std::int64_t> values) {
    WireWriter list;
    for (const std::int64_t value : values) {
      list.varint(static_cast<std::uint64_t>(value));
    }
    return message(field, list);
  }
  // Fields of another, after these.
  WireWriter& raw(const WireWriter& fields) {
    bytes_ += fields.bytes_;
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7U) {
      bytes_ += static_cast<char>(value | 128U);
    }
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

// Opens held bytes, which must outlive it.
inline OpenBytes opener(std::string_view held) {
  return [held] { return bytes_of(held, std::int64_t{1} << 40U); };
}

}  // namespace sextant::profile
