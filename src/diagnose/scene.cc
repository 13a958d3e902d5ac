#include "diagnose/scene.h"

#include <iterator>
#include <utility>

#include "describe/kernel_facts.h"

namespace sextant::diagnose {
namespace {

template <typename Row>
void append(const std::vector<Row>& from, std::vector<Row>& into) {
  into.insert(into.end(), from.begin(), from.end());
}

}  // namespace

Scene scene_of(const metrics::Summary& summary, const metrics::DevicePeaks& peaks,
               std::optional<Bytes> device_memory) {
  Scene scene;
  scene.summary = &summary;
  scene.peaks = peaks;
  scene.device_memory = device_memory;
  for (const metrics::RankSummary& rank : summary.ranks) {
    scene.totals += rank.total();
    append(rank.operators, scene.operators);
    append(rank.kernels, scene.kernels);
    append(rank.collectives, scene.collectives);
    append(rank.device_work.rows, scene.device_work.rows);
    append(rank.device_work.chains, scene.device_work.chains);
  }
  scene.operators = metrics::folded(std::move(scene.operators));
  scene.kernels = metrics::folded(std::move(scene.kernels));
  scene.collectives = metrics::folded(std::move(scene.collectives));
  scene.device_work.rows = metrics::folded(std::move(scene.device_work.rows));
  scene.device_work.chains = metrics::folded(std::move(scene.device_work.chains));
  const metrics::Breakdown& time = scene.totals.time;
  scene.step = of_mean_step(scene, time.total_ns());
  scene.parts = {of_mean_step(scene, time.compute_ns),
                 of_mean_step(scene, time.exposed_communication_ns),
                 of_mean_step(scene, time.exposed_copy_ns), of_mean_step(scene, time.idle_ns)};
  return scene;
}

Result<void> know_device(const describe::Device& device, const describe::DataStore& data,
                         Scene& scene) {
  scene.device = device;
  SEXTANT_TRY(const describe::KernelFacts facts, describe::kernel_facts(data, device));
  if (!facts.scaled) {
    scene.kernel_model = cost::device_model(facts, device, describe::AttentionKernel::kFlash);
  }
  return {};
}

Seconds of_mean_step(const Scene& scene, std::int64_t total_ns) {
  return static_cast<double>(total_ns) / static_cast<double>(scene.totals.steps) * 1_ns;
}

}  // namespace sextant::diagnose
