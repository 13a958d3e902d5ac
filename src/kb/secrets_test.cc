// No key, token or password of the usual kinds stays in a text.
#include "kb/secrets.h"

#include <gtest/gtest.h>

namespace sextant::kb {
namespace {

// What is planted is put together here, so that no scanner takes this file for a leak.
std::string made(std::string_view beginning, std::size_t length) {
  std::string text(beginning);
  for (std::size_t i = 0; i < length; ++i) {
    text += static_cast<char>((i % 3 == 0 ? '0' : 'a') + static_cast<char>(i % 9));
  }
  return text;
}

TEST(Secrets, KeysWithKnownBeginningsGo) {
  for (const std::string_view beginning :
       {"sk-", "sk-proj-", "ghp_", "gho_", "github_pat_", "glpat-", "hf_", "AKIA", "AIza", "xoxb-",
        "npm_", "pypi-", "sk_live_"}) {
    const std::string key = made(beginning, 36);
    for (const std::string& text :
         {key, "use " + key + " now", "{\"a\":\"" + key + "\"}", "(" + key + ")", "x=" + key}) {
      EXPECT_EQ(redacted(text).find(key.substr(beginning.size(), 12)), std::string::npos) << text;
      EXPECT_TRUE(has_secret(text)) << text;
    }
  }
}

TEST(Secrets, ValuesOfTellingNamesGo) {
  for (const std::string_view text :
       {"api_key=QqWwEeRr", "\"api_key\": \"QqWwEeRr\"", "password: QqWwEeRr",
        "OPENAI_API_KEY=QqWwEeRr", "AWS_SECRET_ACCESS_KEY = 'QqWwEeRr'", "--token=QqWwEeRr",
        "Authorization: Bearer QqWwEeRr", "authorization: Basic QqWwEeRr",
        "{\\\"password\\\":\\\"QqWwEeRr\\\"}", "client-secret: QqWwEeRr", "Bearer QqWwEeRr",
        "postgres://me:QqWwEeRr@db.example/x"}) {
    EXPECT_EQ(redacted(text).find("QqWwEeRr"), std::string::npos) << text << " " << redacted(text);
  }
}

TEST(Secrets, TokensOfTheWebAndPrivateKeysGo) {
  const std::string web =
      "eyJhbGciOiJIUzI1" + std::string(".eyJ") + made("", 30) + "." + made("", 20);
  EXPECT_EQ(redacted("see " + web + " there"), "see [secret] there");
  const std::string pem = std::string("-----BEGIN ") +
                          "RSA PRIVATE KEY-----\nMIIabc\ndef\n-----END " + "RSA PRIVATE KEY-----";
  EXPECT_EQ(redacted("a " + pem + " b"), "a [secret] b");
  EXPECT_EQ(redacted(pem.substr(0, 50)), "[secret]");  // cut off: all that follows goes
}

TEST(Secrets, WhatIsTrainingStays) {
  for (const std::string_view text :
       {"tokens_per_s_per_device=597.3", "token budget 4096", "max_token=4096", "tokens: 1.5e12",
        "the task-based schedule hides sk-ipped stages", "desk-top", "secretary: none",
        "https://github.com/pytorch/torchtitan/pull/1319", "arXiv:2205.05198",
        "tp=8,pp=4,precision=fp8(tensorwise)", "{\"tool\":\"estimate\",\"layout\":\"tp=8\"}",
        "sha256 b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c"}) {
    EXPECT_EQ(redacted(text), text);
    EXPECT_FALSE(has_secret(text)) << text;
  }
}

TEST(Secrets, WhatIsRedactedHasNoneLeft) {
  for (const std::string& text :
       {std::string("password=QqWwEeRr"), "Bearer " + made("", 20), made("ghp_", 36)}) {
    EXPECT_EQ(redacted(redacted(text)), redacted(text));
    EXPECT_FALSE(has_secret(redacted(text)));
  }
}

}  // namespace
}  // namespace sextant::kb
