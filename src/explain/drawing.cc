#include "explain/drawing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::explain {
namespace {

std::string xml_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string hex(const Color& color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

std::string_view anchor_word(Label::Anchor anchor) {
  switch (anchor) {
    case Label::Anchor::kMiddle:
      return "middle";
    case Label::Anchor::kEnd:
      return "end";
    case Label::Anchor::kStart:
      break;
  }
  return "start";
}

std::uint8_t mixed(std::uint8_t from, std::uint8_t to, double share) {
  return static_cast<std::uint8_t>(
      std::lround(static_cast<double>(from) + (static_cast<double>(to) - from) * share));
}

}  // namespace

Polygon polygon_of(const Rectangle& box) {
  return {{{box.x, box.y},
           {box.x + box.width, box.y},
           {box.x + box.width, box.y + box.height},
           {box.x, box.y + box.height}},
          box.color};
}

Rectangle square_around(const Point& middle, double side, const Color& color) {
  return {middle.x - side / 2.0, middle.y - side / 2.0, side, side, color};
}

std::string to_svg(const Drawing& drawing) {
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\" role=\"img\">\n"
      "<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      drawing.width, drawing.height, xml_escaped(drawing.title));
  for (const Polygon& polygon : drawing.polygons) {
    text += "<polygon points=\"";
    for (std::size_t i = 0; i < polygon.corners.size(); ++i) {
      text += fmt::format("{}{:.2f},{:.2f}", i == 0 ? "" : " ", polygon.corners[i].x,
                          polygon.corners[i].y);
    }
    text += fmt::format("\" fill=\"{}\"/>\n", hex(polygon.color));
  }
  for (const Rectangle& r : drawing.rectangles) {
    text += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "fill=\"{}\"/>\n",
        r.x, r.y, r.width, r.height, hex(r.color));
  }
  for (const Label& label : drawing.labels) {
    text += fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\"{}>{}</text>\n", label.x,
                        label.y, anchor_word(label.anchor),
                        label.bold ? " font-weight=\"bold\"" : "", xml_escaped(label.text));
  }
  return text + "</svg>\n";
}

Result<std::string> to_image(const Drawing& drawing, const std::filesystem::path& file) {
  const std::string extension = to_lower(file.extension().string());
  if (extension == ".svg") {
    return to_svg(drawing);
  }
  if (extension == ".png") {
    return to_png(drawing);
  }
  return invalid(fmt::format("'{}' is neither SVG nor PNG", printable(file.string())), {},
                 "a name that ends in .svg or .png");
}

Color scale_color(double share) {
  constexpr std::array<Color, 4> kStops{
      {{237, 243, 250}, {120, 176, 219}, {33, 102, 172}, {8, 29, 72}}};
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(kStops.size() - 1);
  const auto left = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
  const double part = place - static_cast<double>(left);
  const Color& a = kStops[left];
  const Color& b = kStops[left + 1];
  return {mixed(a.red, b.red, part), mixed(a.green, b.green, part), mixed(a.blue, b.blue, part)};
}

// Source: Okabe and Ito, "Color universal design", jfly.uni-koeln.de/color, 2008.
Color category_color(std::size_t index) {
  constexpr std::array<Color, 7> kColors{{{0, 114, 178},
                                          {213, 94, 0},
                                          {0, 158, 115},
                                          {204, 121, 167},
                                          {230, 159, 0},
                                          {86, 180, 233},
                                          {90, 90, 90}}};
  return kColors[index % kColors.size()];
}

}  // namespace sextant::explain
