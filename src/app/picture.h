// A drawing as a file that somebody asked for.
#pragma once

#include <string>
#include <string_view>

#include "app/answered.h"
#include "base/result.h"
#include "explain/drawing.h"

namespace sextant::app {

struct PictureFile {
  std::string path;            // its ending says the form
  std::string_view parameter;  // who named it: "‹plot›"
  std::string_view what;       // "plot"
};

// An Error at the parameter where the path ends in no form of pictures.
Result<Artifact> picture_artifact(const explain::Drawing& drawing, const PictureFile& file);

}  // namespace sextant::app
