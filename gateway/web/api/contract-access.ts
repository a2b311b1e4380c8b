// The calls about who may come in: logins, second factors, people, keys of programs and providers of logins.
import type { ApiKeyView, IssuedKeyView, NewKey } from '../../operator-plane/access/api-keys.ts';
import type { LoggedIn } from '../../operator-plane/access/auth.ts';
import type { LastLogin } from '../../operator-plane/access/auth-last-login.ts';
import type { Factor } from '../../operator-plane/access/auth-mfa.ts';
import type {
  KeyAnswer as KeyAnswerShape,
  SecurityKeyList,
  SecurityKey as SecurityKeyShape,
} from '../../operator-plane/access/auth-security-keys.ts';
import type { Offered } from '../../operator-plane/access/auth-sso.ts';
import type {
  Check,
  NewProvider,
  Change as ProviderChange,
  Provider as ProviderShape,
} from '../../operator-plane/access/sso.ts';
import type {
  Session as SessionShape,
  User as UserShape,
} from '../../operator-plane/access/user-view.ts';
import type { ChangedUser, NewUser, UserChange } from '../../operator-plane/access/users.ts';
import type { Of, Page, Paged } from './contract-shapes.ts';

export type ApiKey = ApiKeyView;
export type Provider = Of<typeof ProviderShape>;
export type KeyAnswer = Of<typeof KeyAnswerShape>;
export type SecurityKey = Of<typeof SecurityKeyShape>;
export type SecondFactor = Of<typeof Factor>;
export type LoginProvider = Of<typeof Offered>['items'][number];
export type User = Of<typeof UserShape>;
export type Session = Of<typeof SessionShape>;
export type SinceLastLogin = NonNullable<Of<typeof LastLogin>['since_last_login']>;
export type Standing = Of<typeof LoggedIn>;
export type OwnSession = Omit<Standing, 'since_last_login'> & {
  readonly scopes: readonly string[];
};

/** A part of `Api`. */
export type AccessCalls = {
  'GET /auth/session': { answer: OwnSession };
  'GET /auth/last-login': { answer: Of<typeof LastLogin> };
  'POST /auth/login': { body: { email: string; password: string }; answer: Standing };
  'POST /auth/logout': { answer: { ended: number } };
  'POST /auth/reset': { body: { secret: string; password: string }; answer: { email: string } };
  'POST /auth/password': {
    body: { current_password: string; new_password: string };
    answer: Pick<Standing, 'session_id' | 'expires_at' | 'stage' | 'needs'>;
  };
  'POST /auth/reauthenticate': {
    body: { password?: string; code?: string; security_key?: KeyAnswer };
    answer: object;
  };
  'GET /auth/mfa/keys': { answer: Of<typeof SecurityKeyList> };
  'POST /auth/mfa/keys/begin': { answer: { options: unknown } };
  'POST /auth/mfa/keys/ask': { answer: { options: unknown } };
  'POST /auth/mfa/keys': {
    body: { name: string; security_key: unknown };
    answer: Of<typeof SecurityKeyList>;
  };
  'DELETE /auth/mfa/keys/:id': { answer: null };
  'GET /auth/sessions': { answer: { readonly items: readonly Session[] } };
  'DELETE /auth/sessions/:id': { answer: { ended: number } };
  'POST /auth/sessions/end-others': { answer: { ended: number } };
  'GET /auth/mfa': { answer: SecondFactor };
  'POST /auth/mfa/enroll': {
    body: { password?: string };
    answer: { secret: string; otpauth_uri: string; qr_svg: string };
  };
  'POST /auth/mfa/confirm': { body: { code: string }; answer: { recovery_codes: string[] } };
  'POST /auth/mfa/verify': {
    body: { code: string } | { security_key: KeyAnswer };
    answer: { method: 'totp' | 'recovery' | 'security_key'; recovery_codes_left: number };
  };
  'POST /auth/mfa/recovery-codes': { body: { code: string }; answer: { recovery_codes: string[] } };
  'POST /auth/mfa/disable': { body: { code: string; password?: string }; answer: object };
  'GET /auth/sso/providers': { answer: Of<typeof Offered> };
  'GET /api-keys': { query: Paged; answer: Page<ApiKey> };
  'POST /api-keys': { body: Of<typeof NewKey>; answer: IssuedKeyView };
  'DELETE /api-keys/:id': { answer: ApiKey };
  'GET /all-api-keys': { query: Paged; answer: Page<ApiKey> };
  'DELETE /all-api-keys/:id': { answer: ApiKey };
  'GET /users': { query: Paged; answer: Page<User> };
  'POST /users': { body: Of<typeof NewUser>; answer: User };
  'PATCH /users/:id': { body: Of<typeof UserChange>; answer: Of<typeof ChangedUser> };
  'DELETE /users/:id': { answer: { user_id: string } };
  'POST /users/:id/reset-link': { answer: { secret: string; expires_at: string } };
  'DELETE /users/:id/sessions': { answer: { ended: number } };
  'DELETE /users/:id/mfa': { answer: null };
  'GET /sso-providers': { answer: { readonly items: readonly Provider[] } };
  'POST /sso-providers': { body: Of<typeof NewProvider>; answer: Provider };
  'PATCH /sso-providers/:id': { body: Of<typeof ProviderChange>; answer: Provider };
  'DELETE /sso-providers/:id': { answer: null };
  'POST /sso-providers/:id/test': { answer: Of<typeof Check> };
};
