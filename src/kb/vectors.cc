#include "kb/vectors.h"

#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "base/sha256.h"

namespace sextant::kb {
namespace {

constexpr std::array<std::string_view, 1> kVectorTables{
    "CREATE TABLE vectors(key TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT"};
constexpr double kScale = 32767.0;
constexpr std::size_t kDigits = 4;  // of a number, in hex

// The file holds no text that was embedded, only its hash.
std::string key_of(std::string_view model, std::string_view text) {
  return sha256_hex(fmt::format("{}:{}\n{}", model.size(), model, text));
}

std::string body_of(const std::vector<float>& vector) {
  double square = 0.0;
  for (const float number : vector) {
    square += static_cast<double>(number) * static_cast<double>(number);
  }
  const double scale = square > 0.0 ? kScale / std::sqrt(square) : 0.0;
  std::string body;
  body.reserve(vector.size() * kDigits);
  for (const float number : vector) {
    const auto whole = static_cast<std::int16_t>(std::lround(static_cast<double>(number) * scale));
    body += fmt::format("{:04x}", static_cast<std::uint16_t>(whole));
  }
  return body;
}

std::optional<int> digit_of(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  return c >= 'a' && c <= 'f' ? std::optional(c - 'a' + 10) : std::nullopt;
}

std::optional<std::vector<float>> vector_of_body(std::string_view body) {
  if (body.empty() || body.size() % kDigits != 0 ||
      body.size() > Vectors::kLongestVector * kDigits) {
    return std::nullopt;
  }
  std::vector<float> vector;
  for (std::size_t at = 0; at < body.size(); at += kDigits) {
    unsigned bits = 0;
    for (const char c : body.substr(at, kDigits)) {
      const auto digit = digit_of(c);
      if (!digit) {
        return std::nullopt;
      }
      bits = bits * 16U + static_cast<unsigned>(*digit);
    }
    const auto whole = static_cast<std::int16_t>(static_cast<std::uint16_t>(bits));
    vector.push_back(static_cast<float>(static_cast<double>(whole) / kScale));
  }
  return vector;
}

}  // namespace

Result<Vectors> Vectors::open(const std::filesystem::path& file) {
  Vectors vectors;
  if (!file.empty()) {
    SEXTANT_TRY(vectors.database_, Database::open(file, Access::kWrite, kVectorTables));
  }
  return vectors;
}

Result<Vectors> Vectors::read(const std::filesystem::path& file) {
  Vectors vectors;
  std::error_code ignored;
  if (!file.empty() && std::filesystem::exists(file, ignored)) {
    SEXTANT_TRY(vectors.database_, Database::open(file, Access::kRead, kVectorTables));
  }
  return vectors;
}

Result<std::optional<std::vector<float>>> Vectors::find(std::string_view model,
                                                        std::string_view text) {
  const std::string key = key_of(model, text);
  if (!database_) {
    const auto found = held_.find(key);
    return found == held_.end() ? std::nullopt : vector_of_body(found->second);
  }
  std::optional<std::vector<float>> vector;
  SEXTANT_CHECK_OK(database_->run("SELECT body FROM vectors WHERE key = ?1",
                                  {std::string_view(key)},
                                  [&](const Row& row) { vector = vector_of_body(row.text(0)); }));
  return vector;
}

Result<void> Vectors::add(std::string_view model, std::string_view text,
                          const std::vector<float>& vector) {
  const std::string key = key_of(model, text);
  std::string body = body_of(vector);
  if (!database_) {
    held_[key] = std::move(body);
    return {};
  }
  return database_->run("INSERT OR REPLACE INTO vectors(key, body) VALUES(?1, ?2)",
                        {std::string_view(key), std::string_view(body)});
}

}  // namespace sextant::kb
