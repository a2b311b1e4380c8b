// The file of a first start: license, administrator and settings, as JSON or YAML. It is read as a whole, and every mistake
// in its form is named; what its content means is judged where it is put in place. decision: D42
import { readFileSync } from 'node:fs';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { parse } from 'yaml';
import type { ProvisionedAdmin, ProvisionInput } from '../../actors/access/provision.ts';
import { PROVISIONING_FILE_MAX_BYTES } from '../../machines/limits.ts';
import { mistakesOfFile } from './schema-mistakes.ts';

const Text = Type.String({ minLength: 1, maxLength: 1_024 });
const ProvisioningFile = Type.Object(
  {
    license: Type.Optional(Type.Unknown()),
    admin: Type.Optional(
      Type.Object(
        {
          email: Text,
          display_name: Type.Optional(Type.String({ maxLength: 128 })),
          password: Type.Optional(Text),
          password_hash: Type.Optional(Text),
        },
        { additionalProperties: false },
      ),
    ),
    settings: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false },
);
type ProvisioningFile = Type.Static<typeof ProvisioningFile>;
const check = Compile(ProvisioningFile);

export type ProvisioningResult =
  | { readonly ok: true; readonly input: ProvisionInput }
  | { readonly ok: false; readonly mistakes: readonly string[] };

/** Reads the file; a file that is not there is a mistake like any other. */
export function readProvisioningFile(path: string): ProvisioningResult {
  try {
    return readProvisioning(readFileSync(path, 'utf8'));
  } catch (error) {
    return { ok: false, mistakes: [error instanceof Error ? error.message : String(error)] };
  }
}

/** Reads the text of such a file. Never throws. */
export function readProvisioning(text: string): ProvisioningResult {
  if (Buffer.byteLength(text) > PROVISIONING_FILE_MAX_BYTES) {
    return { ok: false, mistakes: [`is over ${PROVISIONING_FILE_MAX_BYTES} bytes`] };
  }
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 100, schema: 'core', logLevel: 'error' }) ?? {};
  } catch (error) {
    const [reason = 'is not YAML'] = String(error instanceof Error ? error.message : error).split(
      '\n',
    );
    return { ok: false, mistakes: [reason] };
  }
  const mistakes = check.Check(value) ? [] : mistakesOfFile(check.Errors(value));
  if (!check.Check(value)) return { ok: false, mistakes };
  const admin = value.admin === undefined ? null : adminOf(value.admin);
  if (admin !== null && 'mistake' in admin) return { ok: false, mistakes: [admin.mistake] };
  return {
    ok: true,
    input: { license: value.license ?? null, admin, settings: value.settings ?? {} },
  };
}

function adminOf(
  admin: NonNullable<ProvisioningFile['admin']>,
): ProvisionedAdmin | { readonly mistake: string } {
  const { email, display_name: displayName = '', password, password_hash: passwordHash } = admin;
  if (password !== undefined && passwordHash === undefined) {
    return { email, displayName, secret: { password } };
  }
  if (passwordHash !== undefined && password === undefined) {
    return { email, displayName, secret: { passwordHash } };
  }
  return { mistake: 'admin: needs either password or password_hash' };
}
