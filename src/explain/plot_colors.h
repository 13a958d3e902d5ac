// Colours that mean the same in several pictures.
#pragma once

#include "explain/drawing.h"

namespace sextant::explain {

// Of plots with a frame around their points.
inline constexpr Color kGridColor{226, 226, 226};
inline constexpr Color kFrameColor{120, 120, 120};
inline constexpr Color kBandColor{214, 226, 236};  // where values should lie

// Of pictures with plain axes.
inline constexpr Color kAxisColor{150, 150, 150};
inline constexpr Color kPaleGridColor{228, 228, 228};

}  // namespace sextant::explain
