#include "app/predictor.h"

#include "app/predict_memory.h"

namespace sextant::app {

measured::Predictor predictor(const describe::DataStore& data) {
  return
      [&data](const measured::Row& row) -> measured::Answer { return predict_memory(row, data); };
}

}  // namespace sextant::app
