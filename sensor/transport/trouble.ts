// Why a connection failed, in the few kinds that the Sensor treats differently. An expired client certificate can only be
// told by the TLS alert: the handshake fails before any HTTP answer.

export type TroubleKind =
  | 'certificate_expired'
  | 'certificate_refused'
  | 'console_not_trusted'
  | 'name_not_found'
  | 'connection_refused'
  | 'connection_lost'
  | 'timed_out'
  | 'answer_unreadable';

export type Trouble = { readonly kind: TroubleKind; readonly detail: string };

const CONSOLE_NOT_TRUSTED =
  /CERT_|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ERR_TLS_CERT_ALTNAME|HOSTNAME_MISMATCH/;

/** Sorts what node reports. Total. */
export function troubleOf(error: unknown): Trouble {
  const { code = '', message = String(error) } = error as { code?: string; message?: string };
  const detail = code === '' ? message : `${code}: ${message}`;
  return { kind: kindOf(`${code}`, message), detail: detail.slice(0, 500) };
}

/** Trouble with trust, as opposed to trouble with the way. */
export function isTrustTrouble(kind: TroubleKind): boolean {
  return (
    kind === 'certificate_expired' ||
    kind === 'certificate_refused' ||
    kind === 'console_not_trusted'
  );
}

function kindOf(code: string, message: string): TroubleKind {
  if (/ALERT_CERTIFICATE_EXPIRED/.test(code) || /alert certificate expired/i.test(message)) {
    return 'certificate_expired';
  }
  if (/_ALERT_/.test(code) || /ssl alert|alert (unknown ca|bad certificate)/i.test(message)) {
    return 'certificate_refused';
  }
  if (CONSOLE_NOT_TRUSTED.test(code)) return 'console_not_trusted';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'name_not_found';
  if (code === 'ECONNREFUSED') return 'connection_refused';
  if (code === 'ETIMEDOUT' || code === 'ABORT_ERR' || /time(d )?out/i.test(message)) {
    return 'timed_out';
  }
  return 'connection_lost';
}
