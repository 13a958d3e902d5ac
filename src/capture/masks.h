// Secrets are taken out of a record before it is a file: what has the name of one, what looks like
// one, and those values wherever else they stand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emit/capture_file.h"

namespace sextant::capture {

// "HF_TOKEN", "WANDB_API_KEY", "PGPASSWORD"; not "TOKENIZERS_PARALLELISM", nor "PWD".
bool is_secret_name(std::string_view variable);

// `environment`: "NAME=value", of everything the job was started with. `output`: what it printed.
void mask_secrets(const std::vector<std::string>& environment, emit::CaptureRecord& record,
                  std::string& output);

}  // namespace sextant::capture
