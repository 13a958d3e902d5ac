#include "http/message.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::http {
namespace {

constexpr std::array kReasons{std::pair{100, std::string_view("Continue")},
                              std::pair{200, std::string_view("OK")},
                              std::pair{202, std::string_view("Accepted")},
                              std::pair{204, std::string_view("No Content")},
                              std::pair{400, std::string_view("Bad Request")},
                              std::pair{401, std::string_view("Unauthorized")},
                              std::pair{403, std::string_view("Forbidden")},
                              std::pair{404, std::string_view("Not Found")},
                              std::pair{405, std::string_view("Method Not Allowed")},
                              std::pair{406, std::string_view("Not Acceptable")},
                              std::pair{408, std::string_view("Request Timeout")},
                              std::pair{413, std::string_view("Content Too Large")},
                              std::pair{415, std::string_view("Unsupported Media Type")},
                              std::pair{429, std::string_view("Too Many Requests")},
                              std::pair{431, std::string_view("Request Header Fields Too Large")},
                              std::pair{500, std::string_view("Internal Server Error")},
                              std::pair{502, std::string_view("Bad Gateway")},
                              std::pair{503, std::string_view("Service Unavailable")},
                              std::pair{529, std::string_view("Overloaded")}};

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// What a value may hold: visible characters, spaces and tabs, bytes beyond ASCII.
bool stays_in_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

Result<std::string> header_lines(const Headers& headers) {
  std::string lines;
  for (const Header& header : headers) {
    if (!is_token(header.name)) {
      return invalid(fmt::format("'{}' cannot name a header", printable(header.name)));
    }
    if (!stays_in_line(header.value)) {
      return invalid(
          fmt::format("the value of the header {} has a control character", header.name));
    }
    lines += fmt::format("{}: {}\r\n", header.name, header.value);
  }
  return lines + "\r\n";
}

}  // namespace

std::string_view value_of(const Headers& headers, std::string_view name) {
  const std::string wanted = to_lower(name);
  const auto found = std::ranges::find_if(
      headers, [&](const Header& header) { return to_lower(header.name) == wanted; });
  return found == headers.end() ? std::string_view() : std::string_view(found->value);
}

Result<std::string> request_head(const Request& request) {
  if (!is_token(request.method)) {
    return invalid(fmt::format("'{}' is no method", printable(request.method)));
  }
  if (request.target.empty() || !stays_in_line(request.target) ||
      request.target.find_first_of(" \t") != std::string::npos) {
    return invalid("the path of the request is empty or has a space or a control character");
  }
  SEXTANT_TRY(const std::string lines, header_lines(request.headers));
  return fmt::format("{} {} HTTP/1.1\r\n{}", request.method, request.target, lines);
}

Result<std::string> reply_head(const Reply& reply) {
  SEXTANT_TRY(const std::string lines, header_lines(reply.headers));
  return fmt::format("HTTP/1.1 {} {}\r\n{}", reply.status, reason_of(reply.status), lines);
}

std::string_view reason_of(int status) {
  const auto* const found =
      std::ranges::find(kReasons, status, [](const auto& row) { return row.first; });
  return found == kReasons.end() ? std::string_view() : found->second;
}

}  // namespace sextant::http
