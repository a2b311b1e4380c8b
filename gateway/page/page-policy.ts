// What a browser may do on the page: run what bears the nonce of this very answer, ask this Console, and nothing else. No
// `unsafe`, no other origin, no frame around it. decision: D54

/** Stands in the built page where each answer puts its own nonce. */
export const NONCE_MARK = '__page_nonce__';

/** The policy of one answer. */
export function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The policy of a script, a style or an image by itself; a worker lives under it. */
export const ASSET_POLICY = "default-src 'none'; frame-ancestors 'none'";
