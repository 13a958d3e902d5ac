#include "http/access.h"

#include <array>

#include <gtest/gtest.h>

#include "base/scratch_folder_testing.h"
#include "http/authorities.h"

namespace sextant::http {
namespace {

bool answers(const Headers& headers, const Access& access = {}) {
  return !refusal_of(headers, access).has_value();
}

TEST(Access, AHostOfThisMachineIsAnswered) {
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1:1", "[::1]:99", "LocalHost"}) {
    EXPECT_TRUE(answers({{"Host", host}})) << host;
  }
}

TEST(Access, AnyOtherHostIsNot) {
  for (const char* host : {"", "evil.example.com", "localhost.evil.com", "127.0.0.1.evil.com",
                           "localhost@evil.com", "evil.com/localhost", "192.168.0.1"}) {
    EXPECT_FALSE(answers({{"Host", host}})) << host;
  }
  EXPECT_FALSE(answers({}));
  EXPECT_FALSE(answers({{"Host", "localhost"}, {"host", "evil.com"}}));
  EXPECT_TRUE(answers({{"Host", "build-7:80"}}, {.hosts = {"build-7"}}));
}

TEST(Access, APageMustBeOfThisMachineOrKnown) {
  const auto page = [](std::string origin) {
    return Headers{{"Host", "localhost"}, {"Origin", std::move(origin)}};
  };
  EXPECT_TRUE(answers(page("http://localhost:5173")));
  EXPECT_TRUE(answers(page("http://[::1]:1")));
  for (const char* origin : {"https://evil.com", "null", "", "http://localhost.evil.com",
                             "http://localhost@evil.com", "file://"}) {
    EXPECT_FALSE(answers(page(origin))) << origin;
  }
  EXPECT_TRUE(answers(page("https://app.example.com"), {.origins = {"https://app.example.com"}}));
  EXPECT_FALSE(answers(page("http://localhost:5173"), {.from_loopback_pages = false}));
}

TEST(Authorities, TheFirstFileThatIsThereIsTaken) {
  const ScratchFolder folder;
  const auto missing = folder.path() / "missing.pem";
  const auto there = std::filesystem::path(folder.write("there.pem", "x"));
  EXPECT_EQ(authorities_file("", std::array{missing, there}), there);
  EXPECT_EQ(authorities_file(there.string(), {}), there);
  const auto none = authorities_file("", std::array{missing});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().what.find("missing.pem"), std::string::npos);
  EXPECT_EQ(authorities_file(missing.string(), std::array{there}).error().where, "SSL_CERT_FILE");
}

}  // namespace
}  // namespace sextant::http
