// What `sextant model` says.
#pragma once

#include <string>

#include "describe/model/model.h"
#include "describe/model/parameters.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

struct ModelAnswer {
  describe::Model model;
  describe::ModelParameters parameters;
  Provenance provenance;
};

std::string to_text(const ModelAnswer& answer, const Style& style);

}  // namespace sextant::explain
