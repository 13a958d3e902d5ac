#include "search/baselines/pricer.h"

namespace sextant::search {
namespace {

using describe::Layout;

constexpr double kMostLayouts = 1e8;

class Walk {
 public:
  Walk(const Space& space, double weight) : space_(space), pricer_(space_.problem(), weight) {}

  BaselineResult result() {
    for (const Shape& shape : space_.shapes()) {
      for (const Variant& variant : space_.variants(shape)) {
        const Layout layout = space_.layout_of(shape, variant);
        for (const Pipeline& pipeline : space_.pipelines(layout)) {
          walk(layout, pipeline);
        }
      }
    }
    return {best_, pricer_.calls()};
  }

 private:
  void walk(Layout layout, const Pipeline& pipeline) {
    Space::set(pipeline, layout);
    for (const describe::PipelineSplit& split : space_.splits(layout.stages())) {
      layout.split = split;
      for (const SwitchGroup& group : space_.switches(layout)) {
        layout.recompute = group.recompute;
        price_all(layout, group);
      }
    }
  }

  void price_all(Layout& layout, const SwitchGroup& group) {
    for (const Sharding& sharding : group.shardings) {
      space_.set(sharding, layout);
      std::size_t set = 0;
      while (set < sharding.hidden.size()) {
        layout.overlap = sharding.hidden[set++];
        pricer_.improve(layout, best_);
      }
    }
  }

  Space space_;
  Pricer pricer_;
  std::optional<Plan> best_;
};

}  // namespace

BaselineResult exhaustive(const Space& space, double computing_weight) {
  if (Space(space).count() > kMostLayouts) {
    return {};
  }
  return Walk(space, computing_weight).result();
}

}  // namespace sextant::search
