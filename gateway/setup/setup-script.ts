// The script of the setup page, as it is sent. It shows one form for each step, sends what was filled in, and shows the
// answer beside it. The token lives as long as the tab does. Text from the Console is only ever set as text.
export const SETUP_SCRIPT = `
'use strict';
const API = '/api/v2/setup';
const KEY = 'setup-token';
const at = (id) => document.getElementById(id);
let token = sessionStorage.getItem(KEY) || '';

async function ask(method, path, body) {
  const headers = { accept: 'application/json' };
  if (token) headers.authorization = 'Bearer ' + token;
  if (body !== undefined) headers['content-type'] = 'application/json';
  try {
    const answer = await fetch(API + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    return { ok: answer.ok, body: await answer.json().catch(() => ({})) };
  } catch {
    return { ok: false, body: { title: 'The Console does not answer' } };
  }
}

function said(problem) {
  const { title = 'It did not work', detail = '' } = problem;
  // A reason that is no sentence of its own follows the title.
  const text = /^[A-Z]/.test(detail) && detail.endsWith('.') ? detail : [title, detail].filter(Boolean).join(': ');
  const places = (problem.errors || [])
    .filter((one) => !text.toLowerCase().includes(one.detail.toLowerCase()))
    .map((one) => (one.pointer.slice(1) + ' ' + one.detail).trim());
  return places.length === 0 ? text : text.replace(/\\.$/, '') + ': ' + places.join('; ') + '.';
}

function tell(form, text, isGood) {
  const line = form.querySelector('.answer');
  line.textContent = text;
  line.className = isGood ? 'answer good' : 'answer bad';
}

function show(view) {
  const isOpen = view.state !== 'awaiting_code';
  at('unlock').hidden = isOpen;
  at('steps').hidden = !isOpen;
  if (!isOpen) return;
  for (const one of view.steps) {
    const form = at(one.step);
    form.querySelector('.mark').textContent = one.done ? 'done' : one.needed ? 'needed' : 'optional';
    form.classList.toggle('done', one.done);
    const undo = form.querySelector('.undo');
    if (undo) undo.hidden = !one.done;
  }
  at('finish').querySelector('button').disabled = !view.can_finish;
  at('progress').textContent = view.next ? 'Next: ' + view.next : 'Every needed step is done.';
}

function valuesOf(form) {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));
}

function bodyOf(step, form) {
  const values = valuesOf(form);
  if (step === 'platform') {
    return values.base_url ? { platform: values.platform, base_url: values.base_url } : { platform: values.platform };
  }
  if (step === 'database' || step === 'analytics') {
    return values.kind === 'external' ? { kind: 'external', url: values.url } : { kind: 'embedded' };
  }
  if (step === 'license') return JSON.parse(values.envelope);
  if (step === 'admin') {
    const { password } = form.elements;
    return { email: values.email, display_name: values.display_name, password: password.value };
  }
  return { url: values.url };
}

async function answer(form) {
  const step = form.id;
  if (step === 'admin' && form.elements.password.value !== form.elements.again.value) {
    return tell(form, 'The two passwords differ.', false);
  }
  let body;
  try {
    body = bodyOf(step, form);
  } catch {
    return tell(form, 'This is not JSON.', false);
  }
  tell(form, 'Working ...', true);
  const { ok, body: result } = await ask('PUT', '/' + step, body);
  tell(form, ok ? (result.about ? 'Saved: ' + result.about + '.' : 'Saved.') : said(result), ok);
  if (ok) show(result);
}

async function leaveOut(form) {
  const { ok, body } = await ask('DELETE', '/' + form.id);
  tell(form, ok ? 'Left out.' : said(body), ok);
  if (!ok) return;
  form.reset();
  show(body);
}

function fill({ answers, steps }) {
  if (answers.platform) document.querySelector('[name=platform][value=' + answers.platform + ']').checked = true;
  if (answers.base_url) at('base_url').value = answers.base_url;
  if (answers.admin_email) at('email').value = answers.admin_email;
  const kept = { database: answers.database_url, analytics: answers.clickhouse_url, broker: answers.redpanda_url, redis: answers.redis_url };
  for (const [step, url] of Object.entries(kept)) {
    if (!url) continue;
    const other = at(step).querySelector('[value=external]');
    if (other) other.checked = true;
    tell(at(step), 'Kept: ' + url, true);
  }
  for (const { step, done } of steps) {
    if (done && !kept[step]) tell(at(step), 'Kept.', true);
  }
}

async function tryStore(form) {
  tell(form, 'Trying ...', true);
  const { ok, body } = await ask('POST', '/test', { store: form.id, url: valuesOf(form).url });
  tell(form, ok ? 'It works: ' + body.about : said(body), ok);
}

async function finish(form) {
  const { ok, body } = await ask('POST', '/finish');
  if (!ok) return tell(form, said(body), false);
  sessionStorage.removeItem(KEY);
  form.querySelector('button').disabled = true;
  tell(form, 'Written. The Console starts again; this page follows.', true);
  const wait = async () => {
    const answer = await fetch('/readyz').catch(() => null);
    if (answer && answer.ok) location.assign('/');
    else setTimeout(wait, 1000);
  };
  setTimeout(wait, 1000);
}

at('unlock').addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = event.currentTarget;
  const { ok, body } = await ask('POST', '/unlock', { code: valuesOf(form).code });
  if (!ok) return tell(form, said(body), false);
  token = body.token;
  sessionStorage.setItem(KEY, token);
  show(body);
  fill(body);
  at('platform').querySelector('input').focus();
});
for (const form of document.querySelectorAll('form[data-step]')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    answer(form);
  });
  const trial = form.querySelector('.try');
  if (trial) trial.addEventListener('click', () => tryStore(form));
  const undo = form.querySelector('.undo');
  if (undo) undo.addEventListener('click', () => leaveOut(form));
}
at('finish').addEventListener('submit', (event) => {
  event.preventDefault();
  finish(event.currentTarget);
});
at('license-file').addEventListener('change', async (event) => {
  const [file] = event.currentTarget.files;
  if (file) at('envelope').value = await file.text();
});
at('base_url').value = location.origin;
ask('GET', '').then(({ body }) => {
  show(body.state ? body : { state: 'awaiting_code' });
  if (body.steps) fill(body);
});
`;
