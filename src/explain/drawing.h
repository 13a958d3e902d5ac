// A picture of polygons, rectangles and labels, written as SVG or PNG. Same picture, same bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace sextant::explain {

struct Color {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

// Coordinates in pixels from the upper left corner.
struct Rectangle {
  double x = 0.0;
  double y = 0.0;
  double width = 0.0;
  double height = 0.0;
  Color color;
};

struct Point {
  double x = 0.0;
  double y = 0.0;
};

struct Polygon {
  std::vector<Point> corners;
  Color color;
};

// The rectangle's corners: polygons lie under rectangles, as grids lie under points.
Polygon polygon_of(const Rectangle& box);
Rectangle square_around(const Point& middle, double side, const Color& color);

struct Label {
  enum class Anchor { kStart, kMiddle, kEnd };
  double x = 0.0;
  double y = 0.0;  // of the baseline
  std::string text;
  Anchor anchor = Anchor::kStart;
  bool bold = false;  // in SVG
};

struct Drawing {
  int width = 0;
  int height = 0;
  std::string title;                  // said in SVG for readers without eyes
  std::vector<Polygon> polygons;      // under the rectangles; later ones over earlier ones
  std::vector<Rectangle> rectangles;  // later ones over earlier ones
  std::vector<Label> labels;
};

std::string to_svg(const Drawing& drawing);

// Labels are drawn in capitals of five pixels height.
// REQUIRES: width and height of at least 1 and at most 8192.
Result<std::string> to_png(const Drawing& drawing);

// By the file's extension: ".svg" or ".png"; another is an Error that says so.
Result<std::string> to_image(const Drawing& drawing, const std::filesystem::path& file);

// A value's place on a scale from white over blue to near black. REQUIRES: 0 ≤ share ≤ 1.
Color scale_color(double share);
// Colours that stay apart for most readers, by number.
Color category_color(std::size_t index);

}  // namespace sextant::explain
