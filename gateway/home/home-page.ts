// The plain page at `/`: what runs here, which CA to trust, where the API is described. No script, no outside resource.
import { createHash } from 'node:crypto';

const STYLE = `
:root { color-scheme: light dark; --ink: #1a2230; --quiet: #566074; --line: #d8dde6; --paper: #ffffff; --card: #f6f8fb; --link: #0b57b7; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7ebf2; --quiet: #a3adbf; --line: #343d4d; --paper: #12161d; --card: #1a2029; --link: #8ab8ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 3rem 1.25rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0 .75rem; }
.quiet { color: var(--quiet); }
a { color: var(--link); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1.25rem; margin: 1.5rem 0 0; padding: 1rem 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
code, pre { font: .9em/1.6 ui-monospace, monospace; }
pre { margin: .5rem 0; padding: .75rem 1rem; overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
@media (max-width: 32rem) { dl { grid-template-columns: 1fr; gap: 0 0; } dd { margin-bottom: .6rem; } main { padding-top: 1.5rem; } }
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Forbids everything but this page's own style. */
export const HOME_CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export type HomeFacts = {
  readonly version: string;
  readonly platform: string;
  readonly baseUrl: string;
  readonly caFingerprint: string;
  /** What enrols a node, folded. */
  readonly enrollLine: string;
};

/** Renders the page. */
export function renderHome(facts: HomeFacts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fleet runtime security Console</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Fleet runtime security Console</h1>
<p class="quiet">This Console is running. It is operated from the command line and the API.</p>
<dl>
<dt>Version</dt><dd>${escapeHtml(facts.version)}</dd>
<dt>Platform</dt><dd>${escapeHtml(facts.platform)}</dd>
<dt>Address</dt><dd>${escapeHtml(facts.baseUrl)}</dd>
<dt>CA SHA-256</dt><dd><code>${escapeHtml(facts.caFingerprint).replaceAll(':', ':<wbr>')}</code></dd>
</dl>
<h2>Log in</h2>
<pre>service-console login --url ${escapeHtml(facts.baseUrl)}</pre>
<h2>See the fleet</h2>
<pre>service-console sensors list</pre>
<h2>Enrol a node</h2>
<p>Make a token:</p>
<pre>service-console tokens create</pre>
<p>Paste this on the node. It installs the Sensor, asks for the token and leaves the Sensor running:</p>
<pre>${escapeHtml(facts.enrollLine)}</pre>
<h2>Links</h2>
<ul>
<li><a href="/api/v2/openapi.json">API description</a> (OpenAPI 3.1)</li>
<li><a href="/ca.pem">CA certificate</a></li>
<li><a href="/readyz?verbose">Readiness</a></li>
</ul>
</main>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (char) => entities[char] ?? char);
}
