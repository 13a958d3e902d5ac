#include "http/message_parser.h"

#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sextant::http {
namespace {

// "200|body|rest" of a message, or "error: why".
std::string read_whole(const std::vector<std::string>& pieces,
                       MessageKind kind = MessageKind::kReply, const MessageLimits& limits = {},
                       bool has_no_body = false) {
  std::string body;
  MessageParser parser(
      kind, limits,
      [&](std::string_view bytes) {
        body += bytes;
        return Result<void>();
      },
      has_no_body);
  std::string rest;
  for (const std::string& piece : pieces) {
    if (parser.is_done()) {
      rest += piece;
      continue;
    }
    if (const auto fed = parser.feed(piece); !fed) {
      return "error: " + fed.error().what;
    }
  }
  if (const auto ended = parser.end(); !ended) {
    return "error: " + ended.error().what;
  }
  const MessageHead& head = parser.head();
  const std::string first =
      kind == MessageKind::kReply ? std::to_string(head.status) : head.method + " " + head.target;
  return first + "|" + body + "|" + parser.rest() + rest;
}

TEST(MessageParser, ABodyEndsByLengthByChunksOrByTheConnection) {
  EXPECT_EQ(read_whole({"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd"}), "200|abc|d");
  EXPECT_EQ(read_whole({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                        "2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\nmore"}),
            "200|abc|more");
  EXPECT_EQ(read_whole({"HTTP/1.0 200 OK\r\n\r\nabc"}), "200|abc|");
  EXPECT_EQ(read_whole({"HTTP/1.1 204 No Content\r\n\r\n"}), "204||");
  EXPECT_EQ(
      read_whole({"HTTP/1.1 200 \r\nContent-Length: 9\r\n\r\n"}, MessageKind::kReply, {}, true),
      "200||");
  EXPECT_EQ(read_whole({"POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"},
                       MessageKind::kRequest),
            "POST /a?b|hi|");
}

TEST(MessageParser, WhatEndsTooEarlyIsAnError) {
  const std::string cut = "error: the connection ended within the message";
  EXPECT_EQ(read_whole({}), cut);
  EXPECT_EQ(read_whole({"HTTP/1.1 200 OK\r\nContent-"}), cut);
  EXPECT_EQ(read_whole({"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"}), cut);
  EXPECT_EQ(read_whole({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"}), cut);
}

TEST(MessageParser, WhatIsLongerThanTheLimitsIsRefused) {
  const MessageLimits limits{.head = 200_B, .body = 4_B};
  const std::string head = "HTTP/1.1 200 OK\r\n";
  const auto read = [&](const std::string& text) {
    return read_whole({text}, MessageKind::kReply, limits);
  };
  const std::string too_long_head = "error: the headers are longer than the limit";
  const std::string too_long_body = "error: the body is longer than the limit";
  EXPECT_EQ(read(head + "X: " + std::string(300, 'x') + "\r\n\r\n"), too_long_head);
  EXPECT_EQ(read(head + "Content-Length: 5\r\n\r\n"), too_long_body);
  EXPECT_EQ(read(head + "Transfer-Encoding: chunked\r\n\r\n5\r\n"), too_long_body);
  EXPECT_EQ(read(head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
            too_long_body);
  EXPECT_EQ(read(head + "\r\nabcde"), too_long_body);
  EXPECT_EQ(read(head + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(99999, 'x')),
            too_long_head);
}

TEST(MessageParser, WhatCouldBeReadInTwoWaysIsRefused) {
  for (const char* text :
       {"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST / HTTP/1.1\nContent-Length: 0\n\n", "POST  / HTTP/1.1\r\n\r\n",
        "POST / HTTP/2.0\r\n\r\n", "POST / HTTP/1.1\r\nA b: c\r\n\r\n", "\x16\x03\x01 hello"}) {
    EXPECT_EQ(read_whole({text}, MessageKind::kRequest).substr(0, 5), "error") << text;
  }
}

TEST(MessageParser, WhoTakesTheBodyMayRefuseIt) {
  MessageParser parser(MessageKind::kReply, {},
                       [](std::string_view) -> Result<void> { return external("enough"); });
  const auto fed = parser.feed("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().what, "enough");
  EXPECT_EQ(parser.refusal(), Refusal::kSink);
}

RC_GTEST_PROP(MessageParser, HowTheBytesComeMakesNoDifference, (const std::vector<bool>& cuts)) {
  const std::string text =
      "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n0a\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nnext";
  std::vector<std::string> pieces{""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    pieces.back() += text[i];
    if (i < cuts.size() && cuts[i]) {
      pieces.emplace_back();
    }
  }
  RC_ASSERT(read_whole(pieces) == "200|abc0123456789|next");
}

RC_GTEST_PROP(MessageParser, AnyBytesEndInAMessageOrAnError,
              (const std::string& bytes, bool is_request)) {
  const std::string text = (is_request ? "GET / HTTP/1.1\r\n" : "HTTP/1.1 200 OK\r\n") + bytes;
  read_whole({text}, is_request ? MessageKind::kRequest : MessageKind::kReply);
}

}  // namespace
}  // namespace sextant::http
