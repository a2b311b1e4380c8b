// What a request ends with, and reading foreign values: JSON objects, Retry-After, the sentence of a failed answer.
import type { Trouble } from './trouble.ts';

export type Answer =
  | { readonly ok: true; readonly status: number; readonly json: unknown }
  | {
      readonly ok: false;
      readonly kind: 'refused';
      readonly status: number;
      readonly code: string;
      readonly detail: string;
      readonly retryAfterMs: number | null;
    }
  | { readonly ok: false; readonly kind: 'unreachable'; readonly trouble: Trouble };

/** Whether a parsed value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Retry-After in milliseconds; seconds only, a date or nonsense counts as absent. */
export function retryAfterOf(header: string | undefined): number | null {
  if (header === undefined || !/^\d{1,7}(\.\d+)?$/.test(header.trim())) return null;
  return Number(header) * 1_000;
}

/** What a person reads of a failed answer. */
export function sentenceOf(answer: Exclude<Answer, { ok: true }>): string {
  if (answer.kind === 'refused') return `${answer.code}: ${answer.detail}`;
  const { kind, detail } = answer.trouble;
  const hint = kind === 'certificate_expired' ? '; if it has not, one of the clocks is wrong' : '';
  return `${kind}: ${detail}${hint}`;
}

/** How long a failed answer asks to wait. */
export function waitOf(answer: Answer): number | null {
  return !answer.ok && answer.kind === 'refused' ? answer.retryAfterMs : null;
}
