#include "http/server.h"

#include <array>
#include <new>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "http/client.h"
#include "http/lines.h"
#include "http/sockets.h"
#include "http/sse.h"

namespace sextant::http {
namespace {

Url url_of(const Server& server) {
  return *parse_url("http://127.0.0.1:" + std::to_string(server.port()), "");
}

// Answers with what was asked.
void echo(const Request& request, Exchange& exchange) {
  exchange.answer({.status = 200,
                   .headers = {{"Content-Type", "text/plain"}},
                   .body = request.method + " " + request.target + " " + request.body});
}

// All that comes back to these bytes.
std::string answer_to(const Server& server, std::string_view bytes) {
  const Patience patience = patience_of(20_s, nullptr);
  const auto stream = connected("127.0.0.1", server.port(), patience);
  EXPECT_TRUE(stream);
  EXPECT_TRUE((*stream)->write(bytes, patience));
  std::string answer;
  std::array<char, 4096> piece{};
  for (auto got = (*stream)->read(piece, patience); got && *got > 0;
       got = (*stream)->read(piece, patience)) {
    answer.append(piece.data(), *got);
  }
  return answer;
}

std::string first_line(const std::string& answer) {
  return answer.substr(0, answer.find('\r'));
}

TEST(Server, ItAnswersTheClient) {
  const auto server = Server::start({}, echo);
  ASSERT_TRUE(server) << to_text(server.error());
  const auto reply =
      reply_to({.method = "POST", .target = "/mcp?x", .body = "hello"}, url_of(*server), {});
  ASSERT_TRUE(reply) << to_text(reply.error());
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "POST /mcp?x hello");
  EXPECT_EQ(value_of(reply->headers, "content-type"), "text/plain");
}

TEST(Server, ItListensOnLoopbackAlone) {
  for (const char* address : {"0.0.0.0", "::", "192.168.0.1", "localhost", ""}) {
    EXPECT_FALSE(Server::start({.address = address}, echo)) << address;
  }
  const auto taken = Server::start({}, echo);
  const auto second = Server::start({.port = taken->port()}, echo);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().what.find("cannot listen on port"), std::string::npos);
}

TEST(Server, AConnectionServesSeveralRequests) {
  const auto server = Server::start({}, echo);
  const std::string answer =
      answer_to(*server,
                "GET /one HTTP/1.1\r\nHost: localhost\r\n\r\nGET /two HTTP/1.1\r\nHost: localhost"
                "\r\nConnection: close\r\n\r\n");
  EXPECT_NE(answer.find("GET /one "), std::string::npos) << answer;
  EXPECT_NE(answer.find("GET /two "), std::string::npos) << answer;
}

TEST(Server, WhoIsNotMeantToAskIsRefused) {
  const auto server = Server::start({}, echo);
  EXPECT_EQ(first_line(answer_to(*server, "GET / HTTP/1.1\r\nHost: evil.example.com\r\n\r\n")),
            "HTTP/1.1 403 Forbidden");
  EXPECT_EQ(first_line(answer_to(*server,
                                 "GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: "
                                 "https://evil.example.com\r\n\r\n")),
            "HTTP/1.1 403 Forbidden");
  EXPECT_EQ(first_line(answer_to(*server, "GET / HTTP/1.1\r\n\r\n")), "HTTP/1.1 403 Forbidden");
}

TEST(Server, WhatIsTooLongMalformedOrLateIsRefused) {
  const auto server = Server::start(
      {.limits = {.head = 300_B, .body = 10_B}, .request_limit = 30_ms, .idle_limit = 30_ms}, echo);
  const std::string head = "POST / HTTP/1.1\r\nHost: localhost\r\n";
  EXPECT_EQ(first_line(answer_to(*server, head + "Content-Length: 11\r\n\r\n")),
            "HTTP/1.1 413 Content Too Large");
  EXPECT_EQ(first_line(answer_to(*server, head + "X: " + std::string(9999, 'x'))),
            "HTTP/1.1 431 Request Header Fields Too Large");
  EXPECT_EQ(first_line(answer_to(*server, "hello\r\n\r\n")), "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(first_line(answer_to(*server, head + "Content-Length: 9\r\n\r\nab")),
            "HTTP/1.1 408 Request Timeout");
  EXPECT_EQ(answer_to(*server, ""), "");
}

TEST(Server, AStreamedReplyComesEventByEvent) {
  const auto server = Server::start({}, [](const Request&, Exchange& exchange) {
    exchange.begin(200, {{"Content-Type", "text/event-stream"}});
    EXPECT_TRUE(exchange.write(to_text(ServerEvent{.data = "one"})));
    EXPECT_TRUE(exchange.write(to_text(ServerEvent{.name = "end", .data = "two"})));
  });
  std::vector<std::string> events;
  EventReader reader;
  const auto reply = reply_to({}, url_of(*server), {}, [&](std::string_view line) {
    return reader.feed(line, [&](const ServerEvent& event) {
      events.push_back(event.name + ":" + event.data);
      return Result<void>();
    });
  });
  ASSERT_TRUE(reply) << to_text(reply.error());
  EXPECT_EQ(events, (std::vector<std::string>{":one", "end:two"}));
}

TEST(Server, AHandlerLearnsThatNobodyWaits) {
  std::atomic<bool> learnt = false;
  auto server = Server::start({}, [&](const Request&, Exchange& exchange) {
    exchange.begin(200, {});
    exchange.write("line\n");
    while (!exchange.gone()) {
      std::this_thread::yield();
    }
    learnt = true;
  });
  const auto reply = reply_to({}, url_of(*server), {}, [](std::string_view) -> Result<void> {
    return external("that will do");
  });
  EXPECT_FALSE(reply);
  while (!learnt) {
    std::this_thread::yield();
  }
}

TEST(Server, StoppingReleasesAHandlerAndThoseWhoWait) {
  std::atomic<bool> is_in = false;
  auto server = Server::start({}, [&](const Request&, Exchange& exchange) {
    is_in = true;
    while (!exchange.gone()) {
      std::this_thread::yield();
    }
  });
  std::thread client([&] { EXPECT_FALSE(reply_to({}, url_of(*server), {})); });
  while (!is_in) {
    std::this_thread::yield();
  }
  server->stop();
  client.join();
  server->stop();  // a second time is nothing
}

TEST(Server, BeyondItsConnectionsItSaysThatItIsBusy) {
  std::atomic<int> inside = 0;
  auto server = Server::start({.connections = 2}, [&](const Request&, Exchange& exchange) {
    ++inside;
    while (!exchange.gone()) {
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back([&] { static_cast<void>(reply_to({}, url_of(*server), {})); });
  }
  while (inside < 2) {
    std::this_thread::yield();
  }
  const auto third = reply_to({}, url_of(*server), {});
  ASSERT_TRUE(third) << to_text(third.error());
  EXPECT_EQ(third->status, 503);
  server->stop();
  for (std::thread& client : clients) {
    client.join();
  }
}

TEST(Server, AHandlerThatSaysNothingOrNonsenseIsAnInternalError) {
  const auto silent = Server::start({}, [](const Request&, Exchange&) {});
  EXPECT_EQ(reply_to({}, url_of(*silent), {})->status, 500);
  const auto wrong = Server::start({}, [](const Request&, Exchange& exchange) {
    exchange.answer({.status = 200, .headers = {{"X", "a\r\nb: c"}}, .body = "x"});
  });
  EXPECT_EQ(reply_to({}, url_of(*wrong), {})->status, 500);
  const auto throwing =
      Server::start({}, [](const Request&, Exchange&) { throw std::bad_alloc(); });
  EXPECT_EQ(reply_to({}, url_of(*throwing), {})->status, 500);
  EXPECT_EQ(reply_to({}, url_of(*throwing), {})->status, 500);
}

TEST(Server, AHeadIsAnsweredWithoutABodyAndContinueIsSaid) {
  const auto server = Server::start({}, echo);
  const std::string head =
      answer_to(*server, "HEAD /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  const std::string continued =
      answer_to(*server,
                "POST /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue"
                "\r\nContent-Length: 2\r\n\r\nab");
  EXPECT_TRUE(continued.ends_with("POST /x ab")) << continued;
}

}  // namespace
}  // namespace sextant::http
