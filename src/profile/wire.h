// Protocol buffers read field by field as they come, without a schema compiled in: a message of
// gigabytes is never held. Who reads decides by the field's number; what it does not take is
// skipped. Strings are held up to a limit that the reader states.
//
// A message ends where its length says, or where it is damaged: a tag that cannot be, a length
// beyond the message it lies in. A damaged message is left at its end, so that what follows it can
// be read; one whose end lies beyond its parent's damages the parent too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/byte_source.h"

namespace google::protobuf::io {
class CodedInputStream;
class ZeroCopyInputStream;
}  // namespace google::protobuf::io

namespace sextant::profile {

// Where a whole message lies; opened again for each pass over it.
using OpenBytes = std::function<Result<std::unique_ptr<ByteSource>>()>;

class Wire {
 public:
  // Nested messages, beyond which one is skipped: an HloModule has about ten.
  static constexpr int kDeepest = 40;

  explicit Wire(google::protobuf::io::CodedInputStream& stream) : stream_(stream) {}

  // The next field of the message; false at its end.
  bool next();
  [[nodiscard]] int field() const { return field_; }

  // The field's value; its kind on the wire is checked: zero or empty where it is another.
  std::int64_t integer();
  std::uint64_t natural();
  bool flag() { return natural() != 0; }
  double number();
  // The first `longest` bytes.
  std::string text(std::size_t longest);
  // Whole numbers, packed or one by one: each is handed on.
  void integers(const std::function<void(std::int64_t)>& take);
  // A message: `read` takes its fields. False where it is damaged, or no message.
  bool message(const std::function<void(Wire&)>& read);
  // The same: `take` is called at each of its fields.
  bool each(const std::function<void(Wire&)>& take);
  // The field is a message, a text or bytes.
  [[nodiscard]] bool has_length() const { return is_length_delimited_; }

  // Skips the value of the field where nobody took it; false where it is cut.
  bool finish();

  // Something on the way was no protobuf.
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }

 private:
  bool skip_value();
  bool skip_to_limit();
  bool length(std::uint32_t& bytes);

  google::protobuf::io::CodedInputStream& stream_;
  int field_ = 0;
  std::uint32_t tag_ = 0;
  bool is_taken_ = true;
  bool is_length_delimited_ = false;
  bool is_damaged_ = false;
  bool is_over_ = false;  // the file ended within the message
  int depth_ = 0;
};

// What came of a file that is one message.
struct WireEnd {
  std::int64_t bytes = 0;     // read
  bool is_cut = false;        // it ends in the middle of a field, or in what is no field
  std::int64_t unread = 0;    // bytes after that
  std::string source_damage;  // what the source says: gzip's checksum
};

// Reads the outermost message: `read` takes the field that it stands on, without next(). An Error
// where the source gives one.
Result<WireEnd> read_wire(const OpenBytes& open, const std::function<void(Wire&)>& read);

// A message within bytes that are held.
bool read_held_wire(std::string_view bytes, const std::function<void(Wire&)>& read);

}  // namespace sextant::profile
