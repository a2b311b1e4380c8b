// What may stand in console.yaml, and which variable overrides each setting. The file is refused as a whole when one key
// is unknown: a setting that is silently ignored is worse than one that is missing.
import Type from 'typebox';

/** Whether this version has a queue sink. Until it has one, nobody is asked for a broker, and one that is named is refused. */
export const HAS_QUEUE_SINK: boolean = false;

const Text = Type.String({ minLength: 1, maxLength: 4_096 });

export const FileSettings = Type.Object(
  {
    port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
    bind: Type.Optional(Text),
    base_url: Type.Optional(Text),
    database_url: Type.Optional(Text),
    clickhouse_url: Type.Optional(Text),
    redpanda_url: Type.Optional(Text),
    redis_url: Type.Optional(Text),
    allow_plaintext_stores: Type.Optional(Type.Boolean()),
    background_tasks: Type.Optional(Type.Boolean()),
    license_trust_anchor: Type.Optional(Text),
    tls: Type.Optional(
      Type.Object(
        { cert: Type.Optional(Text), key: Type.Optional(Text), ca: Type.Optional(Text) },
        { additionalProperties: false },
      ),
    ),
    mode: Type.Optional(Type.Enum(['self_hosted', 'cloud'])),
    provisioning: Type.Optional(Text),
    policy_signing: Type.Optional(Type.Enum(['console', 'offline'])),
    platform: Type.Optional(Type.Enum(['standard', 'telecom'])),
    log_level: Type.Optional(Type.Enum(['debug', 'info', 'warn', 'error'])),
    intervals: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false },
);
export type FileSettings = Type.Static<typeof FileSettings>;

type Kind = 'text' | 'integer' | 'boolean';
/** Variable -> path in the settings. */
export const VARIABLES: Readonly<Record<string, readonly [path: string, kind: Kind]>> = {
  SERVICE_CONSOLE_PORT: ['port', 'integer'],
  SERVICE_CONSOLE_BIND: ['bind', 'text'],
  SERVICE_CONSOLE_BASE_URL: ['base_url', 'text'],
  SERVICE_CONSOLE_DATABASE_URL: ['database_url', 'text'],
  SERVICE_CONSOLE_CLICKHOUSE_URL: ['clickhouse_url', 'text'],
  SERVICE_CONSOLE_REDPANDA_URL: ['redpanda_url', 'text'],
  SERVICE_CONSOLE_REDIS_URL: ['redis_url', 'text'],
  SERVICE_CONSOLE_ALLOW_PLAINTEXT_STORES: ['allow_plaintext_stores', 'boolean'],
  SERVICE_CONSOLE_BACKGROUND_TASKS: ['background_tasks', 'boolean'],
  SERVICE_LICENSE_TRUST_ANCHOR: ['license_trust_anchor', 'text'],
  SERVICE_CONSOLE_TLS_CERT: ['tls.cert', 'text'],
  SERVICE_CONSOLE_TLS_KEY: ['tls.key', 'text'],
  SERVICE_CONSOLE_TLS_CA: ['tls.ca', 'text'],
  SERVICE_CONSOLE_MODE: ['mode', 'text'],
  SERVICE_CONSOLE_PROVISIONING: ['provisioning', 'text'],
  SERVICE_CONSOLE_POLICY_SIGNING: ['policy_signing', 'text'],
  SERVICE_CONSOLE_PLATFORM: ['platform', 'text'],
  SERVICE_LOG_LEVEL: ['log_level', 'text'],
};

/** A variable's text as the value its setting takes; text that does not convert stays text and fails the schema. */
export function convertVariable(text: string, kind: Kind): unknown {
  if (kind === 'integer') return /^\d{1,15}$/.test(text) ? Number(text) : text;
  if (kind === 'boolean') {
    if (/^(true|1|yes|on)$/i.test(text)) return true;
    return /^(false|0|no|off)$/i.test(text) ? false : text;
  }
  return text;
}
