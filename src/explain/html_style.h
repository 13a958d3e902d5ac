// The style of every report: light and dark, wide and narrow, on screen and on paper. Parts of a
// step have one colour each, told apart by most readers, and always stand with their names.
#pragma once

#include <string_view>

namespace sextant::explain {

inline constexpr std::string_view kHtmlStyle = R"(:root {
  --page: #ffffff; --card: #f6f7f9; --text: #1c2330; --soft: #566072; --line: #d9dde5;
  --link: #1f5fbf; --compute: #3f76c9; --comm: #d9772b; --copy: #8a5cc2; --idle: #aab1bd;
  --bad: #b3261e; --good: #1e7a45; --heat: 201, 92, 38; --evidence: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171d; --card: #1d2129; --text: #e7eaf0; --soft: #9aa4b5; --line: #343b48;
    --link: #86b4ff; --compute: #6f9fe8; --comm: #eb9a56; --copy: #b08be0; --idle: #5b6474;
    --bad: #ff8a80; --good: #6fd09a; --heat: 235, 140, 80; --evidence: #ff8a80;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 24px 20px 48px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 18px; margin: 36px 0 12px; }
h3 { font-size: 16px; margin: 0; }
h3::first-letter { text-transform: uppercase; }
.run { margin: 18px 0; }
p { margin: 6px 0; }
a { color: var(--link); }
code { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.bad { color: var(--bad); }
.good { color: var(--good); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px;
  margin: 20px 0; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 10px 14px; }
.tile b { display: block; font-size: 22px; line-height: 1.3; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 13px; }
.bar { display: block; width: 100%; height: 26px; border-radius: 4px; }
.card .bar { height: 8px; margin: 8px 0; }
.rest { fill: var(--line); }
.compute { fill: var(--compute); } .comm { fill: var(--comm); } .copy { fill: var(--copy); }
.idle { fill: var(--idle); } .lost { fill: var(--evidence); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 22px; margin: 10px 0 0; padding: 0;
  list-style: none; }
.legend svg { width: 12px; height: 12px; vertical-align: -1px; margin-right: 6px; }
.card { background: var(--card); border: 1px solid var(--line); border-left: 5px solid var(--line);
  border-radius: 8px; padding: 14px 18px; margin: 0 0 14px; break-inside: avoid; }
.card.verified { border-left-color: var(--evidence); }
.card.inferred { border-left-color: var(--comm); }
.card.explained { opacity: 0.8; }
.cost { display: flex; flex-wrap: wrap; gap: 2px 18px; color: var(--soft); }
.cost b { color: var(--text); }
.advice { margin: 10px 0 0; padding-left: 20px; }
.advice li { margin: 4px 0; }
.setting { display: inline-block; max-width: 100%; margin-right: 10px; }
.advice code { background: var(--page); border: 1px solid var(--line);
  border-radius: 4px; padding: 0 5px; }
details { margin-top: 8px; }
summary { cursor: pointer; color: var(--link); }
.wide { overflow-x: auto; margin: 0 0 14px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
caption { text-align: left; color: var(--soft); padding: 4px 0; }
th, td { padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; white-space: nowrap; }
td:first-child { white-space: normal; overflow-wrap: anywhere; min-width: 110px; }
th { font-weight: 600; color: var(--soft); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td.heat { text-align: right; padding: 4px 10px; font-variant-numeric: tabular-nums;
  border: 1px solid var(--page); }
.timeline { display: block; width: 100%; min-width: 640px; height: auto; }
.timeline text { fill: var(--soft); font: 12px system-ui, sans-serif; }
.timeline .step { fill: var(--card); stroke: var(--line); }
.timeline .seen { fill: var(--evidence); fill-opacity: 0.75; }
.button { display: inline-block; border: 1px solid var(--link); border-radius: 6px;
  padding: 6px 14px; text-decoration: none; margin: 4px 12px 4px 0; }
ul.plain { padding-left: 20px; margin: 6px 0; overflow-wrap: anywhere; }
footer { margin-top: 40px; color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
@media (max-width: 560px) {
  body { font-size: 14px; } main { padding: 16px 12px 32px; } h1 { font-size: 22px; }
  th, td { padding-right: 8px; }
}
@media print {
  :root { --page: #fff; --card: #fff; --text: #000; --soft: #444; --line: #bbb; --link: #000; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; } .button { display: none; }
  details::details-content { content-visibility: visible; display: block; }
  .wide { overflow: visible; } th, td { white-space: normal; }
}
)";

}  // namespace sextant::explain
