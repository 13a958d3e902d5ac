#include "explain/html.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/html_style.h"

namespace sextant::explain {

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char c : printable(text, text.size() * 4 + 1)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string html_section(std::string_view title, std::string_view content) {
  return content.empty()
             ? std::string()
             : fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", html_text(title), content);
}

std::string html_table(const Table& table, std::string_view caption) {
  if (table.rows.empty()) {
    return {};
  }
  std::string html = "<div class=\"wide\"><table>\n";
  if (!caption.empty()) {
    html += fmt::format("<caption>{}</caption>\n", html_text(caption));
  }
  const auto attributes = [&](std::size_t i) {
    return table.columns[i].right ? " class=\"number\"" : "";
  };
  html += "<thead><tr>";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>", attributes(i),
                        html_text(table.columns[i].title));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      html += fmt::format("<td{}>{}</td>", attributes(i), html_text(row[i]));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string html_bar(const std::vector<BarPiece>& pieces, std::string_view label) {
  constexpr double kUnits = 1000.0;
  std::string html = fmt::format(
      "<svg class=\"bar\" viewBox=\"0 0 {:.0f} 10\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\">",
      kUnits, html_text(label));
  html += fmt::format("<rect class=\"rest\" width=\"{:.0f}\" height=\"10\"/>", kUnits);
  double at = 0.0;
  for (const BarPiece& piece : pieces) {
    const double width = kUnits * std::clamp(piece.share, 0.0, 1.0);
    if (width > 0.0) {
      html += fmt::format(
          "<rect class=\"{}\" x=\"{:.2f}\" width=\"{:.2f}\" height=\"10\"><title>{}</title></rect>",
          piece.color_class, at, width, html_text(piece.name));
    }
    at += width;
  }
  return html + "</svg>\n";
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n"
      "</html>\n",
      html_text(title), kHtmlStyle, body);
}

std::string data_link(std::string_view bytes) {
  // RFC 4648.
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string link = "data:application/json;base64,";
  link.reserve(link.size() + (bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      word = word << 8U | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      const bool is_there = at + i <= bytes.size();
      link += is_there ? kLetters[word >> (18U - 6U * i) & 63U] : '=';
    }
  }
  return link;
}

}  // namespace sextant::explain
