// Shapes and letters into pixels, and pixels into PNG: the only file that knows libpng.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <png.h>

#include "explain/drawing.h"
#include "explain/glyphs.h"

namespace sextant::explain {
namespace {

constexpr std::size_t kChannels = 3;
constexpr int kMostPixels = 8192;

class Pixels {
 public:
  Pixels(int width, int height)
      : width_(width),
        height_(height),
        bytes_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * kChannels,
               0xFF) {}

  // Every pixel whose middle lies inside, and at least one where the rectangle is thinner.
  void fill(const Rectangle& r) {
    const auto edge = [](double at, int most) {
      return std::clamp(static_cast<int>(std::lround(std::clamp(at, -1.0, 1e6))), 0, most);
    };
    const int left = edge(r.x, width_ - 1);
    const int top = edge(r.y, height_ - 1);
    const int right = std::max(edge(r.x + r.width, width_), left + 1);
    const int bottom = std::max(edge(r.y + r.height, height_), top + 1);
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) {
        set(x, y, r.color);
      }
    }
  }

  // Every pixel whose middle lies inside: row by row, between pairs of crossed edges.
  void fill(const Polygon& polygon) {
    for (int y = 0; y < height_; ++y) {
      const std::vector<double> crossings = crossings_at(polygon, y + 0.5);
      for (std::size_t i = 0; i + 1 < crossings.size(); i += 2) {
        const int right = pixel(crossings[i + 1], width_);
        for (int x = pixel(crossings[i], width_); x < right; ++x) {
          set(x, y, polygon.color);
        }
      }
    }
  }

  void write(const Label& label) {
    constexpr int kAdvance = kGlyphWidth + 1;
    const int length = kAdvance * static_cast<int>(label.text.size());
    int x = static_cast<int>(std::lround(label.x));
    x -= label.anchor == Label::Anchor::kEnd      ? length
         : label.anchor == Label::Anchor::kMiddle ? length / 2
                                                  : 0;
    const int y = static_cast<int>(std::lround(label.y)) - kGlyphHeight;
    for (const char c : label.text) {
      draw(c, x, y);
      x += kAdvance;
    }
  }

  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  // The first pixel whose middle is not left of `at`.
  static int pixel(double at, int most) {
    return static_cast<int>(std::ceil(std::clamp(at - 0.5, 0.0, static_cast<double>(most))));
  }

  static std::vector<double> crossings_at(const Polygon& polygon, double y) {
    std::vector<double> crossings;
    const std::vector<Point>& corners = polygon.corners;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Point& a = corners[i];
      const Point& b = corners[(i + 1) % corners.size()];
      if ((a.y <= y) != (b.y <= y)) {
        crossings.push_back(a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y));
      }
    }
    std::sort(crossings.begin(), crossings.end());
    return crossings;
  }

  void set(int x, int y, const Color& color) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) {
      return;
    }
    const std::size_t at = (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                            static_cast<std::size_t>(x)) *
                           kChannels;
    bytes_[at] = color.red;
    bytes_[at + 1] = color.green;
    bytes_[at + 2] = color.blue;
  }

  void draw(char c, int x, int y) {
    const char capital = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    const auto* const glyph =
        std::find_if(kGlyphs.begin(), kGlyphs.end(),
                     [capital](const auto& known) { return known.first == capital; });
    if (glyph == kGlyphs.end()) {
      return;
    }
    for (int i = 0; i < kGlyphWidth * kGlyphHeight; ++i) {
      if (glyph->second[static_cast<std::size_t>(i)] == '#') {
        set(x + i % kGlyphWidth, y + i / kGlyphWidth, Color{40, 40, 40});
      }
    }
  }

  int width_;
  int height_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

Result<std::string> to_png(const Drawing& drawing) {
  if (drawing.width < 1 || drawing.height < 1 || drawing.width > kMostPixels ||
      drawing.height > kMostPixels) {
    return invalid(fmt::format("a picture of {} x {} pixels", drawing.width, drawing.height), {},
                   fmt::format("1 to {} each way", kMostPixels));
  }
  Pixels pixels(drawing.width, drawing.height);
  for (const Polygon& polygon : drawing.polygons) {
    pixels.fill(polygon);
  }
  for (const Rectangle& rectangle : drawing.rectangles) {
    pixels.fill(rectangle);
  }
  for (const Label& label : drawing.labels) {
    pixels.write(label);
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(drawing.width);
  image.height = static_cast<png_uint_32>(drawing.height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string png(size, '\0');
  if (png_image_write_to_memory(&image, png.data(), &size, 0, pixels.bytes().data(), 0, nullptr) ==
      0) {
    return external(fmt::format("libpng: {}", static_cast<const char*>(image.message)));
  }
  png.resize(size);
  return png;
}

}  // namespace sextant::explain
