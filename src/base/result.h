// Result<T>: a value, or an Error that says what was seen, where, and what is allowed.
//
// Three kinds of "no" exist and are never mixed: bad input or failed I/O is an Error (here); a
// legal question with the answer "no" is a value (describe::Violation, later Rejection); a bug is
// an assert.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace sextant {

enum class ErrorKind {
  kInvalid,   // the user's input is wrong: exit code 2
  kNotFound,  // a name or a file is not there: exit code 2
  kExternal,  // something outside failed (disk, network, cluster): exit code 3
};

struct Error {
  ErrorKind kind = ErrorKind::kInvalid;
  std::string what;     // the value seen and why it is wrong
  std::string where;    // file, or file:line[:column], or the option; may be empty
  std::string allowed;  // the values that would have been accepted; may be empty
};

template <typename T>
using Result = tl::expected<T, Error>;

// "where: what (allowed: …)", each part only where it is known.
std::string to_text(const Error& error);

inline tl::unexpected<Error> invalid(std::string what, std::string where = {},
                                     std::string allowed = {}) {
  return tl::unexpected<Error>(
      Error{ErrorKind::kInvalid, std::move(what), std::move(where), std::move(allowed)});
}

inline tl::unexpected<Error> not_found(std::string what, std::string where = {},
                                       std::string allowed = {}) {
  return tl::unexpected<Error>(
      Error{ErrorKind::kNotFound, std::move(what), std::move(where), std::move(allowed)});
}

inline tl::unexpected<Error> external(std::string what, std::string where = {}) {
  return tl::unexpected<Error>(Error{ErrorKind::kExternal, std::move(what), std::move(where), {}});
}

// SEXTANT_TRY(const Model model, load_model(file)): declares `model`, or returns the error.
#define SEXTANT_TRY(declaration, expression) \
  SEXTANT_TRY_IMPL(declaration, expression, SEXTANT_TRY_NAME(try_result_, __LINE__))
#define SEXTANT_TRY_NAME(prefix, line) SEXTANT_TRY_NAME_IMPL(prefix, line)
#define SEXTANT_TRY_NAME_IMPL(prefix, line) prefix##line
#define SEXTANT_TRY_IMPL(declaration, expression, name) \
  auto name = (expression);                             \
  if (!name) {                                          \
    return tl::unexpected(std::move(name.error()));     \
  }                                                     \
  declaration = std::move(*name)

// SEXTANT_CHECK_OK(check(x)): for a Result whose value is not needed.
#define SEXTANT_CHECK_OK(expression)                        \
  if (auto check_result = (expression); !check_result) {    \
    return tl::unexpected(std::move(check_result.error())); \
  }                                                         \
  static_assert(true, "a semicolon follows")

}  // namespace sextant
