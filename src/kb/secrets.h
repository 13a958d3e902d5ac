// Keys and passwords in text: found by how they look, so that none is ever stored.
#pragma once

#include <string>
#include <string_view>

namespace sextant::kb {

// The text with each secret replaced by "[secret]": keys with a known beginning (sk-…, ghp_…, hf_…,
// AKIA…, AIza…, xoxb-…, glpat-…), JSON web tokens, what follows "Bearer", PEM private keys,
// passwords in addresses, and values of names such as api_key, password, token, secret. It prefers
// a word too many to a secret that stays; a secret that looks like a plain word and has no such
// name is not seen.
std::string redacted(std::string_view text);

// Would anything be replaced?
bool has_secret(std::string_view text);

}  // namespace sextant::kb
