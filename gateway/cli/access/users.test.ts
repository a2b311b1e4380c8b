// `service-console users` by example, against the real listener.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cli, openCli } from '../plumbing/cli.fixture.ts';
import { EXIT } from '../plumbing/exit.ts';

let cli: Cli;
beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());
const run = (...argv: readonly string[]) => cli.run('users', ...argv);

describe('users', () => {
  it('should be made with a link whose secret alone is on stdout', async () => {
    const made = await run('create', 'Ana@example.test', '--role', 'analyst', '--name', 'Ana');
    expect(made).toMatchObject({ code: EXIT.ok, out: [expect.stringMatching(/^svcl_/)] });
    // It can be pasted as it stands: the program by its path, the Console by its address.
    expect(made.err.replaceAll(' \\\n', ' ')).toMatch(
      /^'?\/.*service-console\.js'? password reset --url https:\/\/\S+/m,
    );
    expect(made.err).toContain('is not shown again');
    const again = await run('create', 'ana@example.test', '--role', 'viewer');
    expect(again).toMatchObject({ code: EXIT.refused, out: [] });
    expect((await run('create', 'b@example.test', '--role', 'root')).code).toBe(EXIT.usage);
    const plain = await run('create', 'sso@example.test', '--role', 'viewer', '--no-link');
    expect(plain.out[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('should be listed, and found by address or id', async () => {
    const { out } = await run('list');
    expect(out[0]).toMatch(/^EMAIL +ROLE +STATUS +MFA +LAST LOGIN +ID$/);
    expect(out[1]).toMatch(/^Ana@example\.test +analyst +active +off +never +[0-9a-f-]{36}$/);
    const [id = ''] = (await run('get', 'ana@example.test', '-o', 'name')).out;
    expect((await run('get', id, '-o', 'json')).out.join('')).toContain('Ana@example.test');
    expect((await run('get', 'nobody@example.test')).code).toBe(EXIT.notFound);
  });

  it('should lose a second factor to an admin, who is asked first', async () => {
    const { people, secondFactor } = cli.live.fixture.access;
    const name = 'mia@example.test';
    const [link = ''] = (await run('create', name, '--role', 'operator')).out;
    const password = 'a rather long one';
    await people.passwords.reset({ secret: link, password, from: '' });
    const login = await people.login.login({ email: name, password, address: '', userAgent: '' });
    if (!login.ok) throw new Error(login.code);
    const { userId } = login.user;
    const asking = { userId, session: login.session, actor: 'test', from: '' };
    await secondFactor.begin(asking, { password });
    expect((await people.users.get(userId))?.mfa.state).toBe('pending');
    expect((await run('reset-mfa', name)).code).toBe(EXIT.usage);
    expect(await run('reset-mfa', name, '--yes')).toMatchObject({ code: EXIT.ok, out: [userId] });
    expect((await people.users.get(userId))?.mfa.state).toBe('off');
    const again = await run('reset-mfa', name, '--yes');
    expect(again).toMatchObject({ code: EXIT.refused, out: [] });
    expect(again.err).toContain('has no second factor');
  });

  it('should be given more with a link for the next password, and less without a word of it', async () => {
    const { people } = cli.live.fixture.access;
    const name = 'ida@example.test';
    const enter = async (link: string, password: string) => {
      await people.passwords.reset({ secret: link, password, from: '' });
      return people.login.login({ email: name, password, address: '', userAgent: '' });
    };
    const [first = ''] = (await run('create', name, '--role', 'viewer')).out;
    expect((await enter(first, 'known to whoever made it')).ok).toBe(true);
    const raised = await run('set-role', name, 'operator');
    expect(raised).toMatchObject({ code: EXIT.ok, out: [expect.stringMatching(/^svcl_/)] });
    expect(raised.err).toContain('is not shown again');
    const before = { email: name, password: 'known to whoever made it' };
    expect((await people.login.login({ ...before, address: '', userAgent: '' })).ok).toBe(false);
    const entered = await enter(raised.out[0] ?? '', 'known to nobody but her');
    expect(entered).toMatchObject({ ok: true, user: { role: 'operator' } });
    const lowered = await run('set-role', name, 'viewer');
    expect(lowered.out[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(lowered.err).not.toContain('ended');
    const again = await run('set-role', name, 'operator', '--no-link');
    expect(again.out[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect((await people.users.findByEmail(name))?.passwordHash).toBeNull();
  });

  it('should change, end and go', async () => {
    const name = 'ana@example.test';
    const raised = await run('set-role', name, 'operator');
    expect(raised.err).toContain('is active, operator');
    // Nothing was set up yet that could end: the link of before is over all the same.
    expect(raised.err).toContain('has ended: password, second factor, API keys, sessions');
    expect(raised.out[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect((await run('disable', name)).err).toContain('is disabled');
    expect((await run('enable', name)).err).toContain('is active');
    expect((await run('reset-link', name)).out[0]).toMatch(/^svcl_/);
    expect((await run('sessions', name)).err).toContain('No live sessions');
    expect((await run('sessions', name, '--end')).err).toContain('0 sessions were ended');
    expect((await run('remove', name)).code).toBe(EXIT.usage);
    expect((await run('remove', name, '--yes')).code).toBe(EXIT.ok);
    expect((await run('get', name)).code).toBe(EXIT.notFound);
  });
});
