// The tables of operator access as the database holds them.
import type { Role } from '../../../machines/trust/roles.rules.ts';
import type { ChallengePurpose } from '../../ports/access/security-keys.ts';
import type { SessionStage } from '../../ports/access/sessions.ts';
import type { SsoKind, SsoOptions } from '../../ports/access/sso-store.ts';
import type { MfaState, UserStatus } from '../../ports/access/users.ts';
import type { Json } from '../plumbing/json-column.ts';

export type UsersTable = {
  user_id: string;
  email: string;
  email_key: string;
  display_name: string;
  role: Role;
  status: UserStatus;
  tags: Json<readonly string[]>;
  password_hash: string | null;
  password_changed_at_ms: number | null;
  must_change_password: boolean;
  created_at_ms: number;
  last_login_at_ms: number | null;
  mfa_state: MfaState;
  mfa_secret_sealed: string | null;
  mfa_last_step: number;
  mfa_changed_at_ms: number | null;
  revision: number;
};

export type ApiKeysTable = {
  key_id: string;
  hash: Buffer;
  name: string;
  scopes: Json<readonly string[]>;
  created_at_ms: number;
  expires_at_ms: number | null;
  revoked_at_ms: number | null;
  user_id: string | null;
  last_used_at_ms: number | null;
};

export type AccessTables = {
  users: UsersTable;
  user_recovery_codes: { user_id: string; hash: Buffer; used_at_ms: number | null };
  user_links: {
    hash: Buffer;
    user_id: string;
    created_at_ms: number;
    expires_at_ms: number;
    used_at_ms: number | null;
  };
  sessions: {
    hash: Buffer;
    session_id: string;
    user_id: string;
    stage: SessionStage;
    method: string;
    address: string;
    user_agent: string;
    created_at_ms: number;
    authenticated_at_ms: number;
    last_seen_at_ms: number;
    expires_at_ms: number;
    ended_at_ms: number | null;
  };
  security_keys: {
    key_id: string;
    user_id: string;
    credential_id: string;
    public_key: Buffer;
    counter: number;
    name: string;
    transports: string;
    made_at_ms: number;
    used_at_ms: number | null;
  };
  security_key_challenges: {
    session_hash: Buffer;
    purpose: ChallengePurpose;
    challenge: string;
    expires_at_ms: number;
  };
  login_failures: { key: string; failures: number; first_at_ms: number; last_at_ms: number };
  sso_providers: {
    provider_id: string;
    kind: SsoKind;
    name: string;
    issuer: string;
    client_id: string;
    client_secret_sealed: string;
    options: Json<SsoOptions>;
    enabled: boolean;
    created_at_ms: number;
    changed_at_ms: number;
    revision: number;
  };
  sso_identities: { provider_id: string; subject: string; user_id: string; linked_at_ms: number };
  sso_flows: {
    state_hash: Buffer;
    provider_id: string;
    browser_hash: Buffer;
    nonce: string;
    code_verifier: string;
    return_to: string;
    expires_at_ms: number;
  };
  api_keys: ApiKeysTable;
};
