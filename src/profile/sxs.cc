#include "profile/sxs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "profile/sxs_fields.h"

namespace sextant::profile {
namespace {

constexpr char kVersion = 2;
constexpr std::string_view kLineEnd = "\r\n";  // a transfer as text would change it
constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kSxsHeaderBytes = kSxsMagic.size() + 1 + kLineEnd.size() + 2 * kWordBytes;
// Times and counts: a hundred days in ns; a thousand of them still add up in 64 bits.
constexpr std::uint64_t kMostAmount = std::uint64_t{1} << 53U;
constexpr std::int64_t kMostMoment = std::int64_t{1} << 62U;

// FNV-1a. Source: RFC 9923.
std::uint64_t sum_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  return hash;
}

void put_word(std::string& to, std::uint64_t word) {
  for (std::size_t i = 0; i < kWordBytes; ++i) {
    to.push_back(static_cast<char>(word >> (8 * i) & 0xffU));
  }
}

std::uint64_t word_at(std::string_view bytes, std::size_t at) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < kWordBytes; ++i) {
    word |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return word;
}

class SxsWriter {
 public:
  void raw(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) {
      bytes_.push_back(static_cast<char>(value | 0x80U));
    }
    bytes_.push_back(static_cast<char>(value));
  }
  void amount(std::int64_t value) { raw(static_cast<std::uint64_t>(value)); }
  // A place in a list, or none: the commonest of all, and so the shortest.
  void number(std::uint32_t value) { raw(value + 1U); }
  void moment(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    raw(value < 0 ? ~(bits << 1U) : bits << 1U);
  }
  // As its distance from a moment already said.
  void since(std::int64_t value, std::int64_t from) { moment(value - from); }
  void interval(const metrics::Interval& time) {
    moment(time.start_ns);
    amount(time.length_ns());
  }
  void wide(const metrics::WideSum& sum) {
    raw(sum.high());
    raw(sum.low());
  }
  void rate(BytesPerSecond rate) { put_word(bytes_, std::bit_cast<std::uint64_t>(rate.base())); }
  void flag(bool value) { raw(value ? 1 : 0); }
  template <typename Enum>
  void choice(Enum value, std::size_t /*choices*/) {
    raw(static_cast<std::uint64_t>(value));
  }
  void text(const std::string& text) {
    raw(text.size());
    bytes_ += text;
  }
  template <typename T, typename Put>
  void optional(const std::optional<T>& value, const Put& put) {
    flag(value.has_value());
    if (value) {
      put(*value);
    }
  }
  template <typename T, typename Put>
  void list(const std::vector<T>& values, const Put& put) {
    raw(values.size());
    for (const T& value : values) {
      put(value);
    }
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// The first thing wrong stops it: what follows reads as nothing.
class SxsReader {
 public:
  explicit SxsReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t raw() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) {
        return wrong("ends early"), 0;
      }
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      if (shift == 63 && byte > 1) {
        break;
      }
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80U) {
        return value;
      }
    }
    return wrong("has a number past 64 bits"), 0;
  }
  void amount(std::int64_t& value) {
    const std::uint64_t read = raw();
    if (read > kMostAmount) {
      wrong("has a time or count past 2^53");
    }
    value = static_cast<std::int64_t>(std::min(read, kMostAmount));
  }
  void number(std::uint32_t& value) {
    const std::uint64_t read = raw();
    if (read > metrics::kNone) {
      wrong("has a place past 2^32");
    }
    value = static_cast<std::uint32_t>(read) - 1;
  }
  void moment(std::int64_t& value) {
    const std::uint64_t read = raw();
    const std::uint64_t half = read >> 1U;
    if (half >= static_cast<std::uint64_t>(kMostMoment)) {
      wrong("has a moment past 2^62");
      return;
    }
    value =
        (read & 1U) != 0 ? -static_cast<std::int64_t>(half) - 1 : static_cast<std::int64_t>(half);
  }
  void since(std::int64_t& value, std::int64_t from) {
    std::int64_t distance = 0;
    moment(distance);
    value = from + distance;  // no further than twice 2^62: no overflow
    if (value >= kMostMoment || value < -kMostMoment) {
      wrong("has a moment past 2^62");
      value = 0;
    }
  }
  void interval(metrics::Interval& time) {
    std::int64_t length = 0;
    moment(time.start_ns);
    amount(length);
    time.end_ns = time.start_ns + length;
  }
  void wide(metrics::WideSum& sum) {
    const std::uint64_t high = raw();
    sum = metrics::WideSum(high, raw());
  }
  void rate(BytesPerSecond& rate) {
    if (bytes_.size() - at_ < kWordBytes) {
      wrong("ends early");
      return;
    }
    const auto value = std::bit_cast<double>(word_at(bytes_, at_));
    at_ += kWordBytes;
    if (!(value >= 0.0) || !std::isfinite(value)) {
      wrong("has a rate that is none");
      return;
    }
    rate = BytesPerSecond(value);
  }
  void flag(bool& value) {
    const std::uint64_t read = raw();
    if (read > 1) {
      wrong("has a yes or no that is neither");
    }
    value = read == 1;
  }
  template <typename Enum>
  void choice(Enum& value, std::size_t choices) {
    const std::uint64_t read = raw();
    if (read >= choices) {
      wrong("has a kind that is not known");
      return;
    }
    value = static_cast<Enum>(read);
  }
  void text(std::string& text) {
    const std::uint64_t size = raw();
    if (size > bytes_.size() - at_) {
      wrong("ends early");
      return;
    }
    text = bytes_.substr(at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
  }
  template <typename T, typename Get>
  void optional(std::optional<T>& value, const Get& get) {
    bool is_there = false;
    flag(is_there);
    if (is_there && !has_failed()) {
      get(value.emplace());
    }
  }
  template <typename T, typename Get>
  void list(std::vector<T>& values, const Get& get) {
    // Grows as it is read: a length that lies takes no memory.
    for (std::uint64_t left = raw(); left > 0 && !has_failed(); --left) {
      get(values.emplace_back());
    }
  }

  void wrong(std::string_view what) {
    if (wrong_.empty()) {
      wrong_ = what;
    }
    at_ = bytes_.size();
  }
  [[nodiscard]] bool has_failed() const { return !wrong_.empty(); }
  [[nodiscard]] bool is_at_end() const { return at_ == bytes_.size(); }
  [[nodiscard]] const std::string& what() const { return wrong_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::string wrong_;
};

// What the numbers one by one can't say.
std::string contradiction(const metrics::Summary& summary) {
  for (std::size_t i = 0; i < summary.ranks.size(); ++i) {
    const metrics::RankSummary& rank = summary.ranks[i];
    if (i > 0 && summary.ranks[i - 1].rank >= rank.rank) {
      return "has ranks out of order";
    }
    for (const metrics::CollectiveInstance& one : rank.instances) {
      if (one.end_ns < one.start_ns ||
          (one.group != metrics::kNone && one.group >= rank.groups.size())) {
        return "has a collective that ends before it starts, or of no group";
      }
      if (one.name != metrics::kNone && one.name >= rank.names.size()) {
        return "has a collective of no name";
      }
    }
    for (const metrics::OwnWork& one : rank.work) {
      if (one.end_ns < one.start_ns || one.total_ns() > one.end_ns - one.start_ns ||
          (one.name != metrics::kNone && one.name >= rank.names.size())) {
        return "has work that is longer than it lasts, or of no name";
      }
    }
  }
  return {};
}

std::string header_fault(std::string_view bytes) {
  if (!bytes.starts_with(kSxsMagic) || bytes.size() < kSxsHeaderBytes) {
    return "is no summary of a profile (.sxs)";
  }
  if (bytes[kSxsMagic.size()] != kVersion) {
    return fmt::format("is of version {}; this program reads version {}",
                       static_cast<int>(bytes[kSxsMagic.size()]), static_cast<int>(kVersion));
  }
  if (bytes.substr(kSxsMagic.size() + 1, kLineEnd.size()) != kLineEnd) {
    return "was changed on the way: line ends differ";
  }
  const std::string_view payload = bytes.substr(kSxsHeaderBytes);
  if (word_at(bytes, kSxsHeaderBytes - 2 * kWordBytes) != payload.size()) {
    return fmt::format("has {} bytes after its header, which says {}", payload.size(),
                       word_at(bytes, kSxsHeaderBytes - 2 * kWordBytes));
  }
  return word_at(bytes, kSxsHeaderBytes - kWordBytes) == sum_of(payload)
             ? std::string()
             : "is damaged: its sum differs";
}

}  // namespace

std::string sxs_bytes(const metrics::Summary& summary) {
  SxsWriter writer;
  fields_of_summary(writer, summary);
  return sealed_sxs(writer.take());
}

std::string sealed_sxs(std::string_view payload) {
  std::string bytes(kSxsMagic);
  bytes.push_back(kVersion);
  bytes += kLineEnd;
  put_word(bytes, payload.size());
  put_word(bytes, sum_of(payload));
  return bytes.append(payload);
}

Result<metrics::Summary> summary_of_sxs(std::string_view bytes, const std::string& where) {
  if (const std::string fault = header_fault(bytes); !fault.empty()) {
    return invalid(fault, where, "what «summarize» writes");
  }
  SxsReader reader(bytes.substr(kSxsHeaderBytes));
  metrics::Summary summary;
  fields_of_summary(reader, summary);
  if (!reader.has_failed() && !reader.is_at_end()) {
    reader.wrong("goes on after its end");
  }
  if (reader.has_failed()) {
    return invalid(reader.what(), where, "what «summarize» writes");
  }
  if (const std::string wrong = contradiction(summary); !wrong.empty()) {
    return invalid(wrong, where, "what «summarize» writes");
  }
  return summary;
}

}  // namespace sextant::profile
