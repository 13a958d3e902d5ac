#include "front/mcp/stdio.h"

#include <array>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace sextant::front::mcp {
namespace {

// A server at the other end of two pipes.
class Served {
 public:
  explicit Served(Offer offer) : server_(std::move(offer)) {
    if (pipe(to_.data()) != 0 || pipe(from_.data()) != 0) {
      ADD_FAILURE() << "no pipe";
    }
    thread_ = std::thread([this] {
      serve_streams(server_, {.in = to_[0], .out = from_[1]});
      close(from_[1]);
    });
  }
  ~Served() {
    hang_up();
    thread_.join();
    close(to_[0]);
    close(from_[0]);
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  void send(const std::string& line) const {
    const std::string bytes = line + "\n";
    ASSERT_EQ(write(to_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void hang_up() {
    if (to_[1] >= 0) {
      close(to_[1]);
      to_[1] = -1;
    }
  }
  // The next message; discarded at the end.
  Json next() {
    std::size_t end = 0;
    while ((end = got_.find('\n')) == std::string::npos) {
      std::array<char, 4096> piece{};
      const ssize_t count = read(from_[0], piece.data(), piece.size());
      if (count <= 0) {
        return Json(Json::value_t::discarded);
      }
      got_.append(piece.data(), static_cast<std::size_t>(count));
    }
    const Json message = Json::parse(got_.substr(0, end));
    got_.erase(0, end + 1);
    return message;
  }

 private:
  Server server_;
  std::array<int, 2> to_{};
  std::array<int, 2> from_{};
  std::string got_;
  std::thread thread_;
};

std::string call_line(int id, const std::string& tool) {
  return one_line({{"jsonrpc", "2.0"},
                   {"id", id},
                   {"method", "tools/call"},
                   {"params",
                    {{"name", tool},
                     {"_meta",
                      {{"io.modelcontextprotocol/protocolVersion", kStatelessVersion},
                       {"io.modelcontextprotocol/clientCapabilities", Json::object()},
                       {"progressToken", id}}}}}});
}

// A tool that says it began and goes on until it is stopped, and one that answers at once.
Offer waiting_offer() {
  Offer offer;
  offer.tools = {{{{"name", "wait"}},
                  [](const Call& call) -> Handled {
                    call.progress(1, 0, "began");
                    while (!call.stop.load()) {
                      std::this_thread::yield();
                    }
                    return Json{{"stopped", true}};
                  }},
                 {{{"name", "now"}}, [](const Call&) -> Handled { return Json{{"now", true}}; }}};
  return offer;
}

TEST(McpStdio, AMessageALineBothWays) {
  Served served(waiting_offer());
  served.send(call_line(1, "now"));
  EXPECT_EQ(served.next()["result"]["now"], true);
  served.send("{]");
  EXPECT_EQ(served.next()["error"]["code"], kParseError);
  served.send("\r");  // an empty line is nothing
  served.send(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  EXPECT_EQ(served.next()["id"], 2);
}

TEST(McpStdio, AHandshakeCountsForWhatFollowsIt) {
  Served served(waiting_offer());
  served.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  EXPECT_TRUE(served.next().contains("error"));
  served.send(R"({"jsonrpc":"2.0","id":2,"method":"initialize","params":{}})");
  EXPECT_TRUE(served.next().contains("result"));
  served.send(R"({"jsonrpc":"2.0","id":3,"method":"tools/list"})");
  EXPECT_EQ(served.next()["result"]["tools"].size(), 2U);
}

TEST(McpStdio, ALongCallHoldsUpNobodyAndACancelledOneIsAnsweredNoMore) {
  Served served(waiting_offer());
  served.send(call_line(1, "wait"));
  EXPECT_EQ(served.next()["method"], "notifications/progress");
  served.send(call_line(1, "now"));  // an id is used once at a time
  EXPECT_EQ(served.next()["error"]["code"], kInvalidRequest);
  served.send(call_line(2, "now"));
  EXPECT_EQ(served.next()["id"], 2);
  served.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  served.send(call_line(3, "now"));
  EXPECT_EQ(served.next()["id"], 3);
  served.hang_up();
  EXPECT_TRUE(served.next().is_discarded());
}

TEST(McpStdio, WhereTheInputEndsWhatIsBeingAnsweredIsStopped) {
  Served served(waiting_offer());
  for (int id = 0; id < kWorkers + 3; ++id) {
    served.send(call_line(id, "wait"));
  }
  EXPECT_EQ(served.next()["method"], "notifications/progress");
  served.hang_up();  // and the destructor waits for the end
}

TEST(McpStdio, ALineThatIsTooLongIsSkipped) {
  Served served(waiting_offer());
  std::thread sender([&] { served.send(std::string(3 * kMostMessageBytes, 'x')); });
  EXPECT_EQ(served.next()["error"]["code"], kInvalidRequest);
  sender.join();
  served.send(call_line(1, "now"));
  EXPECT_EQ(served.next()["id"], 1);
}

}  // namespace
}  // namespace sextant::front::mcp
