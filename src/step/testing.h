// What the tests of steps share: a machine, and machines that are better.
#pragma once

#include <rapidcheck.h>

#include "describe/cluster/load_cluster.h"
#include "describe/layout/pipeline_split.h"
#include "step/step_model.h"
#include "workload/traffic_testing.h"

namespace sextant::step {

inline StepModel machine_of(const char* device, const char* links, std::int64_t domain_size) {
  const describe::DataStore data;
  StepModel model;
  model.device = *cost::device_model(data, *describe::load_device(device, data));
  model.host = *describe::host_facts(data);
  model.facts = *describe::step_facts(data);
  model.comm = cost::comm_model(*describe::load_link_facts(links, data), std::nullopt,
                                *describe::load_network_facts("ib", data), 50_GBps);
  model.domain_size = domain_size;
  return model;
}

inline StepModel h100_model() {
  return machine_of("h100-sxm", "nvlink4", 8);
}

// One of several, domains that do not hold a whole number of groups among them.
inline StepModel any_machine() {
  const auto which = *rc::gen::inRange(0, 3);
  return which == 0   ? machine_of("h100-sxm", "nvlink4", 8)
         : which == 1 ? machine_of("a100-sxm4-80gb", "nvlink3", 8)
                      : machine_of("h200-sxm", "nvlink4", 6);
}

// Links without latency and with all the rate there is.
inline cost::CommModel free_links(cost::CommModel links) {
  for (std::size_t i = 0; i < links.link.size(); ++i) {
    if (describe::kLinkKeys[i].unit == describe::CommUnit::kRate) {
      links.link[i] *= 1e9;
    } else if (describe::kLinkKeys[i].unit == describe::CommUnit::kTime) {
      links.link[i] = 0.0;
    }
  }
  for (std::size_t i = 0; i < links.network.size(); ++i) {
    if (describe::kNetworkKeys[i].unit == describe::CommUnit::kTime) {
      links.network[i] = 0.0;
    }
  }
  links.nic_rate *= 1e9;
  return links;
}

// Everything that a device does, `times` as fast.
inline cost::DeviceModel faster(cost::DeviceModel device, double times) {
  const double part = 1.0 / times;
  for (std::size_t i = 0; i < device.rates.size(); ++i) {
    device.rates[i].burst *= part;
    device.peak[i] *= part;
  }
  device.power_ramp *= part;
  cost::ProductModel& product = device.product;
  product.launch *= part;
  product.group_launch *= part;
  product.memory *= part;
  product.split *= part;
  device.attention.launch *= part;
  device.attention.backward_launch *= part;
  cost::StreamModel& stream = device.stream;
  stream.launch *= part;
  stream.next_launch *= part;
  stream.update_launch *= part;
  stream.memory *= part;
  for (Seconds& element : stream.element) {
    element *= part;
  }
  stream.indexed *= part;
  stream.reread *= part;
  return device;
}

}  // namespace sextant::step
