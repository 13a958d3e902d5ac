#include "cost/comm/comm_model.h"

namespace sextant::cost {

CommModel comm_model(const std::optional<describe::LinkFacts>& link,
                     std::optional<BytesPerSecond> scale_up_rate,
                     const std::optional<describe::NetworkFacts>& network,
                     std::optional<BytesPerSecond> nic_rate) {
  CommModel model;
  if (link) {
    const double scale = scale_up_rate ? *scale_up_rate / link->rate.value : 1.0;
    for (std::size_t i = 0; i < model.link.size(); ++i) {
      const bool rate = describe::kLinkKeys[i].unit == describe::CommUnit::kRate;
      model.link[i] = link->values[i].value * (rate ? scale : 1.0);
    }
  }
  if (network) {
    for (std::size_t i = 0; i < model.network.size(); ++i) {
      model.network[i] = network->values[i].value;
    }
  }
  model.nic_rate = nic_rate ? nic_rate->base() : 0.0;
  return model;
}

}  // namespace sextant::cost
