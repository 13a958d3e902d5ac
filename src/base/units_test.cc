#include "base/units.h"

#include <type_traits>

#include <gtest/gtest.h>

#include "base/quantity_text.h"

namespace sextant {
namespace {

TEST(Units, BytesOverRateAreSeconds) {
  static_assert(std::is_same_v<decltype(64_MiB / 450_GBps), Seconds>);
  // 1 GB at 50 GB/s: 20 ms.
  EXPECT_DOUBLE_EQ((1_GB / 50_GBps) / 1_ms, 20.0);
}

TEST(Units, GbitAndGbyteAreDifferentLiteralsOfOneType) {
  static_assert(std::is_same_v<decltype(400_Gbitps), decltype(50_GBps)>);
  EXPECT_EQ(400_Gbitps, 50_GBps);
  EXPECT_NE(400_Gbitps, 400_GBps);
}

TEST(Units, EqualDimensionsDivideToANumber) {
  static_assert(std::is_same_v<decltype(1_s / 1_us), double>);
  EXPECT_DOUBLE_EQ(80_GB / 1_GiB, 80e9 / 1073741824.0);
}

TEST(Units, PowerTimesTimeIsEnergyAndPriceTimesTimeIsMoney) {
  static_assert(std::is_same_v<decltype(700_W * 1_s), Joules>);
  const auto price = parse_dollars_per_second("2.5 USD/h", "test");
  ASSERT_TRUE(price);
  EXPECT_DOUBLE_EQ((*price * 24_hours).base(), 60.0);
}

TEST(Units, ArithmeticIntensityIsFlopsPerByte) {
  static_assert(std::is_same_v<decltype(989_TFLOPps / 3.35_TBps), FlopsPerByte>);
}

TEST(Units, BytesAreExactToNinePetabytes) {
  const double largest = 9007199254740992.0;  // 2^53
  EXPECT_EQ((Bytes(largest) - 1_B).base(), largest - 1.0);
}

struct TextCase {
  const char* text;
  double base;
};

TEST(QuantityText, ReadsNumbersWithUnits) {
  for (const TextCase& c : {TextCase{"400 Gbit/s", 50e9},
                            {"50 GB/s", 50e9},
                            {"3.35 TB/s", 3.35e12},
                            {"1e2GB/s", 1e11}}) {
    const auto value = parse_bytes_per_second(c.text, "test");
    ASSERT_TRUE(value) << c.text;
    EXPECT_DOUBLE_EQ(value->base(), c.base) << c.text;
  }
  EXPECT_DOUBLE_EQ(parse_bytes("80 GiB", "")->base(), 85899345920.0);
  EXPECT_DOUBLE_EQ(parse_flops_per_second("989.4 TFLOP/s", "")->base(), 989.4e12);
  EXPECT_EQ(*parse_count("132 count", ""), 132);
}

TEST(QuantityText, AUnitIsMandatoryAndMustBeOfTheRightDimension) {
  for (const char* text : {"400", "400 GB", "", "GB/s", "nan GB/s", "-1 GB/s", "inf GB/s",
                           "1e999 GB/s", "400 gbit/s", "4 0 GB/s"}) {
    const auto value = parse_bytes_per_second(text, "file:3");
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().where, "file:3");
    EXPECT_FALSE(value.error().what.empty());
  }
  EXPECT_NE(parse_bytes_per_second("4 parsec", "").error().allowed.find("Gbit/s"),
            std::string::npos);
  EXPECT_FALSE(parse_count("1.5 count", ""));
}

TEST(QuantityText, PrintsTheUnitAPersonWouldChoose) {
  EXPECT_EQ(to_text(1.5_ms), "1.5 ms");
  EXPECT_EQ(to_text(Seconds()), "0 ns");
  EXPECT_EQ(to_text(450_GBps), "450 GB/s");
  EXPECT_EQ(to_text(80_GiB), "80 GiB");
  EXPECT_EQ(to_text(989.4_TFLOPps), "989.4 TFLOP/s");
}

}  // namespace
}  // namespace sextant
