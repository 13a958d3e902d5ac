// Requests and replies of HTTP/1.1 as values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace sextant::http {

struct Header {
  std::string name;
  std::string value;
};
using Headers = std::vector<Header>;

// Of the first header of that name, whatever its case; "" where there is none.
std::string_view value_of(const Headers& headers, std::string_view name);

struct Request {
  std::string method = "GET";
  std::string target = "/";
  Headers headers = {};
  std::string body = {};
};

struct Reply {
  int status = 0;
  Headers headers = {};
  std::string body = {};
};

// Of one message that comes in; more is an Error, and never held.
struct MessageLimits {
  Bytes head = Bytes(64.0 * 1024.0);
  Bytes body = Bytes(16.0 * 1024.0 * 1024.0);
};

// The first line and the headers, with the empty line that ends them, as they are sent. A name, a
// value or a target that would end its line is an Error, which names the header and never shows
// the value.
Result<std::string> request_head(const Request& request);
Result<std::string> reply_head(const Reply& reply);

// "Not Found"; "" of an unknown status.
std::string_view reason_of(int status);

}  // namespace sextant::http
