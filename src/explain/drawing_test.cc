#include "explain/drawing.h"

#include <gtest/gtest.h>

#include "explain/heat_map.h"

namespace sextant::explain {
namespace {

Drawing small() {
  Drawing drawing;
  drawing.width = 20;
  drawing.height = 10;
  drawing.title = "a <b> & \"c\"";
  drawing.rectangles = {{1.0, 2.0, 3.0, 4.0, Color{255, 0, 16}}};
  drawing.labels = {{5.0, 9.0, "x < y", Label::Anchor::kEnd}};
  return drawing;
}

TEST(Drawing, SvgEscapesTextAndKeepsColours) {
  const std::string svg = to_svg(small());
  EXPECT_TRUE(svg.starts_with("<svg xmlns="));
  EXPECT_NE(svg.find("<title>a &lt;b&gt; &amp; &quot;c&quot;</title>"), std::string::npos);
  EXPECT_NE(svg.find("fill=\"#ff0010\""), std::string::npos);
  EXPECT_NE(svg.find(">x &lt; y</text>"), std::string::npos);
}

// PNG specification (RFC 2083): eight signature bytes, then the IHDR chunk with width and height.
TEST(Drawing, PngHasTheSizeAskedFor) {
  const auto png = to_png(small());
  ASSERT_TRUE(png);
  EXPECT_TRUE(png->starts_with("\x89PNG\r\n\x1a\n"));
  EXPECT_EQ(png->substr(12, 4), "IHDR");
  EXPECT_EQ(static_cast<int>((*png)[19]), 20);
  EXPECT_EQ(static_cast<int>((*png)[23]), 10);
  EXPECT_EQ(*png, *to_png(small()));  // same picture, same bytes
}

TEST(Drawing, PicturesWithoutSizeAreRefused) {
  Drawing drawing = small();
  drawing.width = 0;
  EXPECT_FALSE(to_png(drawing));
  drawing.width = 100'000;
  EXPECT_FALSE(to_png(drawing));
}

TEST(Drawing, APolygonOfARectanglesCornersIsThatRectangle) {
  Drawing rectangle = small();
  rectangle.rectangles = {{2.0, 3.0, 10.0, 4.0, Color{0, 114, 178}}};
  Drawing polygon = small();
  polygon.rectangles.clear();
  polygon.polygons = {{{{2.0, 3.0}, {12.0, 3.0}, {12.0, 7.0}, {2.0, 7.0}}, Color{0, 114, 178}}};
  EXPECT_EQ(*to_png(polygon), *to_png(rectangle));
  EXPECT_NE(to_svg(polygon).find(
                "<polygon points=\"2.00,3.00 12.00,3.00 12.00,7.00 2.00,7.00\" fill=\"#0072b2\"/>"),
            std::string::npos);
}

TEST(Drawing, PolygonsLieUnderRectangles) {
  Drawing both = small();
  both.rectangles = {{0.0, 0.0, 20.0, 10.0, Color{1, 2, 3}}};
  Drawing one = both;
  both.polygons = {{{{0.0, 0.0}, {20.0, 0.0}, {0.0, 10.0}}, Color{200, 0, 0}}};
  EXPECT_EQ(*to_png(both), *to_png(one));
}

TEST(Drawing, TheExtensionChoosesTheFormat) {
  EXPECT_TRUE(to_image(small(), "a.svg")->starts_with("<svg"));
  EXPECT_TRUE(to_image(small(), "a.PNG")->starts_with("\x89PNG"));
  const auto other = to_image(small(), "a.jpg");
  ASSERT_FALSE(other);
  EXPECT_NE(to_text(other.error()).find(".svg or .png"), std::string::npos);
}

TEST(Drawing, TheScaleGetsDarker) {
  const auto light = [](const Color& c) { return c.red + c.green + c.blue; };
  for (int i = 0; i < 10; ++i) {
    EXPECT_GT(light(scale_color(i / 10.0)), light(scale_color((i + 1) / 10.0)));
  }
}

TEST(HeatMap, ManyRanksShareCells) {
  HeatMap map;
  map.size = 1024;
  map.per_cell = 4;
  map.cells = 256;
  map.bytes.assign(65'536, 0.0);
  map.bytes[1] = 1e6;
  map.bytes[256] = 1e9;
  const Drawing drawing = to_drawing(map, "test");
  const std::string svg = to_svg(drawing);
  EXPECT_NE(svg.find("4 a cell"), std::string::npos);
  EXPECT_NE(svg.find(">1024</text>"), std::string::npos);
  EXPECT_TRUE(to_png(drawing));
}

}  // namespace
}  // namespace sextant::explain
