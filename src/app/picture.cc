#include "app/picture.h"

#include <utility>

#include <fmt/format.h>

namespace sextant::app {

Result<Artifact> picture_artifact(const explain::Drawing& drawing, const PictureFile& file) {
  auto image = explain::to_image(drawing, file.path);
  if (!image) {
    image.error().where = file.parameter;
    return tl::unexpected(image.error());
  }
  return Artifact{.path = file.path,
                  .bytes = std::move(*image),
                  .note = {fmt::format("{} written to {}", file.what, file.path)}};
}

}  // namespace sextant::app
