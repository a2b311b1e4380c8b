// The page of the first run: plain forms with labels, one style and one script that the page names by their hashes, nothing
// from outside. It can be done with the keyboard alone, and answers are read out.
import { createHash } from 'node:crypto';
import { SETUP_SCRIPT } from './setup-script.ts';

const STYLE = `
:root { color-scheme: light dark; --ink: #1a2230; --quiet: #566074; --line: #8a94a6; --paper: #ffffff; --card: #f6f8fb; --link: #0b57b7; --good: #0b6b3a; --bad: #a4161a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7ebf2; --quiet: #a3adbf; --line: #6b7688; --paper: #12161d; --card: #1a2029; --link: #8ab8ff; --good: #6bd69a; --bad: #ff9a9a; } }
* { box-sizing: border-box; }
[hidden] { display: none; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 44rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 0; display: flex; justify-content: space-between; gap: 1rem; }
.mark, .quiet { color: var(--quiet); font-weight: 400; font-size: .9rem; }
form { margin: 1rem 0; padding: 1rem 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
form.done { border-color: var(--good); }
form:has([value=embedded]:checked) .other { display: none; }
fieldset { border: 0; margin: .5rem 0; padding: 0; }
legend { padding: 0; }
label { display: block; margin: .6rem 0 .2rem; }
.choice { margin: .25rem 0; }
input:not([type=radio], [type=file]), textarea { width: 100%; padding: .5rem .6rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: .35rem; }
textarea { min-height: 7rem; font: .85rem/1.4 ui-monospace, monospace; }
button { margin: .75rem .5rem 0 0; padding: .5rem 1rem; font: inherit; color: var(--paper); background: var(--link); border: 1px solid var(--link); border-radius: .35rem; cursor: pointer; }
button.try, button.undo { color: var(--link); background: none; }
button[hidden] { display: none; }
button:disabled { opacity: .5; cursor: not-allowed; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.answer { min-height: 1.5em; margin: .5rem 0 0; overflow-wrap: anywhere; }
.good { color: var(--good); }
.bad { color: var(--bad); }
`;
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64');

/** Forbids everything but this page's own style and script and the API beside it. */
export const SETUP_CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hashOf(STYLE)}'`,
  `script-src 'sha256-${hashOf(SETUP_SCRIPT)}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const LEAVE_OUT = '<button type="button" class="undo" hidden>Leave it out</button>';
const ANSWER = '<p class="answer" role="status" aria-live="polite"></p>';

/** Renders the page. */
export function renderSetup(version: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Set up this Console</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Set up this Console</h1>
<p class="quiet">Version ${version.replaceAll(/[^\w.+-]/g, '')}. The same can be done in a terminal: <code>npx service-console setup</code></p>
<noscript><p class="bad">This page needs its script; use the terminal instead.</p></noscript>
<form id="unlock" autocomplete="off">
<h2>Setup code</h2>
<label for="code">The code that the Console printed on its terminal</label>
<input id="code" name="code" required maxlength="64" autocapitalize="characters" spellcheck="false">
<button>Begin</button>
${ANSWER}
</form>
<div id="steps" hidden>
<p id="progress" role="status" aria-live="polite"></p>
${platformForm()}
${storeForm('database', 'Relational database', 'postgres://user:password@host:5432/name')}
${storeForm('analytics', 'Analytics database', 'http://user:password@host:8123')}
${urlForm('broker', 'Queue (above roughly 1,500 nodes)', 'host:9092')}
${urlForm('redis', 'Redis (several Consoles share limits)', 'redis://host:6379')}
${licenseForm()}
${adminForm()}
<form id="finish">
<h2>Finish</h2>
<p class="quiet">The configuration is written, and the Console starts again into service.</p>
<button disabled>Write and start</button>
${ANSWER}
</form>
</div>
</main>
<script>${SETUP_SCRIPT}</script>
</body>
</html>
`;
}

function head(title: string): string {
  return `<h2>${title} <span class="mark"></span></h2>`;
}

function platformForm(): string {
  return `<form id="platform" data-step>
${head('Platform')}
<fieldset><legend class="quiet">What is watched</legend>
<label class="choice"><input type="radio" name="platform" value="standard" checked> Standard</label>
<label class="choice"><input type="radio" name="platform" value="telecom"> Telecom: 5G core and O-RAN as well</label>
</fieldset>
<label for="base_url">Where sensors and people reach this Console</label>
<input id="base_url" name="base_url" type="url">
<button>Save</button>
${ANSWER}
</form>`;
}

function storeForm(step: string, title: string, example: string): string {
  return `<form id="${step}" data-step autocomplete="off">
${head(title)}
<fieldset><legend class="quiet">Where it is</legend>
<label class="choice"><input type="radio" name="kind" value="embedded" checked> Embedded: this Console runs its own</label>
<label class="choice"><input type="radio" name="kind" value="external"> Another server</label>
</fieldset>
<div class="other">
<label for="${step}-url">Address of the other server</label>
<input id="${step}-url" name="url" placeholder="${example}" spellcheck="false">
</div>
<button>Save</button><button type="button" class="try other">Test the connection</button>
${ANSWER}
</form>`;
}

function urlForm(step: string, title: string, example: string): string {
  return `<form id="${step}" data-step autocomplete="off">
${head(title)}
<label for="${step}-url">Address</label>
<input id="${step}-url" name="url" required placeholder="${example}" spellcheck="false">
<button>Save</button><button type="button" class="try">Test the connection</button>${LEAVE_OUT}
${ANSWER}
</form>`;
}

function licenseForm(): string {
  return `<form id="license" data-step autocomplete="off">
${head('License')}
<label for="envelope">The content of the license file; it can be imported later as well</label>
<textarea id="envelope" name="envelope" required spellcheck="false"></textarea>
<label for="license-file">or choose the file</label>
<input id="license-file" type="file" accept=".json,application/json">
<p><button>Verify and save</button>${LEAVE_OUT}</p>
${ANSWER}
</form>`;
}

function adminForm(): string {
  return `<form id="admin" data-step>
${head('Administrator')}
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" required autocomplete="username">
<label for="display_name">Name</label>
<input id="display_name" name="display_name" maxlength="128" autocomplete="name">
<label for="password">Password: a long one, no rules about its characters</label>
<input id="password" name="password" type="password" required autocomplete="new-password">
<label for="again">The password again</label>
<input id="again" name="again" type="password" required autocomplete="new-password">
<button>Save</button>
${ANSWER}
</form>`;
}
