// Where a published number comes from, as one word: rows of two tables that were taken from the
// same paper or repository must not count as independent.
#pragma once

#include <string>
#include <string_view>

namespace sextant::measured {

// "github:InternLM/InternEvo/doc/a.md@c628", "github.com/InternLM/InternEvo: …" and
// "InternLM/InternEvo docs" → "internlm-internevo"; "arXiv:2205.05198, table 5" →
// "arxiv-2205-05198"; every release of MLPerf's results → "mlcommons-training-results"; of any
// other text its first words. "" of an empty one.
std::string origin_of(std::string_view text);

}  // namespace sextant::measured
