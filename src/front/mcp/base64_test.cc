#include "front/mcp/base64.h"

#include <gtest/gtest.h>

namespace sextant::front::mcp {
namespace {

// RFC 4648, section 10.
TEST(Base64, TheRfcsExamples) {
  const std::pair<std::string, std::string> examples[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, EveryByteComesBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += static_cast<char>(i);
  }
  EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
}

TEST(Base64, WhatIsNoBase64IsNothing) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zg==Zg==", "Zh==", "Zm9=", "Z!==", "====", "Zm9v\n"}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

}  // namespace
}  // namespace sextant::front::mcp
