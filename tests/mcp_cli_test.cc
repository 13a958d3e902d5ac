// `sextant mcp` as a client starts it.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace sextant::tests {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSecret = "sk-planted-0123456789abcdef";

std::string request(int id, const std::string& method, Json params = Json::object()) {
  params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump() + "\n";
}

// What came back, by id; every line has to be a message.
std::map<int, Json> replies_in(const std::string& out) {
  std::map<int, Json> replies;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = out.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const Json message = Json::parse(out.substr(begin, end - begin), nullptr, false);
    EXPECT_FALSE(message.is_discarded()) << out.substr(begin, end - begin);
    if (message.contains("id")) {
      replies[message["id"].get<int>()] = message;
    }
  }
  EXPECT_EQ(begin, out.size());
  return replies;
}

TEST(McpProgram, StandardOutputHoldsMessagesAndNothingElse) {
  const Folder folder;
  const Ran ran = run_sextant({"mcp", "--root", folder.path().string()},
                              request(1, "server/discover") + "no message\n" +
                                  request(2, "tools/list") + "[]\n" + request(3, "prompts/list"),
                              {"HOME=" + folder.path().string(), std::string("TOKEN=") + kSecret});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  const auto replies = replies_in(ran.out);
  ASSERT_EQ(replies.size(), 3U) << ran.out;
  EXPECT_GE(replies.at(2)["result"]["tools"].size(), 17U);
  EXPECT_EQ(ran.out.find(kSecret), std::string::npos);
}

TEST(McpProgram, WithoutLeaveNothingIsWritten) {
  const Folder folder;
  const Ran ran = run_sextant({"mcp", "--root", folder.path().string()}, request(1, "tools/list"),
                              {"HOME=" + folder.path().string()});
  EXPECT_EQ(ran.out.find("kb_add"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(McpProgram, AFolderOrAPortThatIsNoneIsSaidAtOnce) {
  const Ran folder = run_sextant({"mcp", "--root", "/nowhere/at/all"});
  EXPECT_EQ(folder.exit_code, 2);
  EXPECT_NE(folder.err.find("/nowhere/at/all"), std::string::npos) << folder.err;
  for (const char* port : {"x", "-1", "65536", "80.5"}) {
    const Ran ran = run_sextant({"mcp", "--http", port});
    EXPECT_EQ(ran.exit_code, 2) << port;
    EXPECT_NE(ran.err.find("--http"), std::string::npos) << ran.err;
  }
}

}  // namespace
}  // namespace sextant::tests
