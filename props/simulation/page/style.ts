// The look of the page: one style sheet, light or dark as the reader's system is.
export const STYLE = `
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #ffffff; --ink: #1a2029; --soft: #5d6877; --line: #d8dee6;
  --red: #c62f3b; --red-soft: #fbe9ea; --green: #1f8a55; --blue: #2563c9; --blue-soft: #e3edfd; --amber: #f4c66a;
  --amber-ink: #523a04; --up: #b9c3cf; }
@media (prefers-color-scheme: dark) { :root { --ground: #10141a; --card: #181e26; --ink: #e5eaf1; --soft: #95a1b1;
  --line: #2d3641; --red: #ff7a83; --red-soft: #3a1d22; --green: #4fc98a; --blue: #76aaff; --blue-soft: #1b3155;
  --amber: #8a6516; --amber-ink: #ffedc6; --up: #4a5664; } }
* { box-sizing: border-box }
body { margin: 0; padding: 32px 20px 64px; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif }
main { max-width: 1180px; margin: 0 auto }
h1 { font-size: 24px; margin: 0 0 4px } h2 { font-size: 17px; margin: 36px 0 10px } h3 { font-size: 15px; margin: 22px 0 8px }
p { margin: 6px 0 } .soft { color: var(--soft) } code, pre { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 16px; overflow-x: auto }
.violation { background: var(--red-soft); border-left: 4px solid var(--red); border-radius: 6px; padding: 12px 16px; margin: 14px 0 }
.violation b { color: var(--red) } .violation pre { white-space: pre-wrap; margin: 6px 0 0 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 20px; margin: 0 } dt { color: var(--soft) } dd { margin: 0 }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums }
th { text-align: left; color: var(--soft); font-weight: 500 } th, td { padding: 4px 14px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top }
td.number, th.number { text-align: right } tr.past td { color: var(--soft) }
details { border-top: 1px solid var(--line); padding: 8px 0 } details:first-child { border-top: 0 } details svg { margin: 8px 0 }
summary { cursor: pointer } summary .soft { margin-left: 8px; font-size: 13px }
svg { display: block; max-width: 100%; height: auto; font: 11px system-ui, sans-serif } svg text { fill: var(--ink) }
.timeline { width: 100%; min-width: 900px } .timeline .tick { fill: var(--soft) } .timeline .now { fill: var(--red); font-weight: 600 }
.timeline .host { font-weight: 600; font-size: 12px } .grid, .rule { stroke: var(--line) } .up { fill: var(--up) } .stream { fill: var(--blue) }
.fault rect { fill: var(--amber) } .fault text { fill: var(--amber-ink); }
.sleep line { stroke: var(--soft); stroke-dasharray: 2 4 } .healed line { stroke: var(--green); stroke-width: 1.5 } .healed text { fill: var(--green) } .failure line { stroke: var(--red); stroke-width: 2 }
.mark.accepted { fill: var(--green) } .mark.acknowledged { fill: var(--blue) } .mark.refused { stroke: var(--red); stroke-width: 2; fill: none }
.legend { display: flex; flex-wrap: wrap; gap: 6px 22px; margin: 10px 0 0; font-size: 13px; color: var(--soft) }
.legend svg { display: inline-block; vertical-align: -2px; margin-right: 6px }
.state rect { fill: var(--card); stroke: var(--line) } .state text { fill: var(--soft) } .parallel rect { stroke-dasharray: 4 3 }
.state.active rect { stroke: var(--blue) } .state.active text { fill: var(--ink) } .state.final rect { stroke-width: 2.5 }
.state.leaf.active rect { fill: var(--blue-soft); stroke-width: 2 } .state.leaf.active text { font-weight: 600 }
`;
