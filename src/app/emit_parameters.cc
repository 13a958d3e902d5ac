#include "app/emit_parameters.h"

#include "app/job_parameters.h"
#include "emit/dialects.h"
#include "emit/launch.h"

namespace sextant::app {

Parameter dialect_parameter(std::string_view name, std::string_view help,
                            std::string_view otherwise) {
  return {.name = name,
          .kind = ParameterKind::kWord,
          .value = "DIALECT",
          .help = help,
          .otherwise = otherwise,
          .words = main_spellings(emit::kDialectWords),
          .example = "megatron"};
}

Parameter launcher_parameter() {
  return {.name = "launcher",
          .kind = ParameterKind::kWord,
          .value = "NAME",
          .help = "of these files: torchrun or slurm",
          .fallback = "torchrun",
          .words = main_spellings(emit::kLauncherWords),
          .example = "slurm"};
}

Parameter emit_folder_parameter() {
  return {.name = "out",
          .kind = ParameterKind::kFolderToWrite,
          .value = "FOLDER",
          .help = "write these files there instead of printing them",
          .example = "job/"};
}

}  // namespace sextant::app
