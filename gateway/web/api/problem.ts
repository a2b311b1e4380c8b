// What went wrong, as the Console says it (RFC 9457), or as the page knows it when no Console answered.
import { ROLE_SCOPES, ROLES, type Scope } from '../../../machines/trust/roles.rules.ts';
import { API_TEXTS } from './texts.ts';

export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string | null;
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
  constructor(facts: Omit<ApiProblem, keyof Error>) {
    super(facts.detail === '' ? facts.title : facts.detail);
    this.status = facts.status;
    this.code = facts.code;
    this.title = facts.title;
    this.detail = facts.detail;
    this.requestId = facts.requestId;
    this.errors = facts.errors;
  }
}

type Body = Partial<Record<'code' | 'title' | 'detail' | 'request_id', unknown>> & {
  readonly errors?: ApiProblem['errors'];
};

/** Reads a refusal; anything that is no problem document is named by its status. */
export async function problemOf(answer: Response): Promise<ApiProblem> {
  const body = (await answer.json().catch(() => ({}))) as Body;
  const text = (value: unknown, fallback: string) => (typeof value === 'string' ? value : fallback);
  return new ApiProblem({
    status: answer.status,
    code: text(body.code, 'unknown'),
    title: text(body.title, API_TEXTS.status(answer.status)),
    detail: text(body.detail, ''),
    requestId: text(body.request_id, answer.headers.get('x-request-id') ?? '') || null,
    errors: Array.isArray(body.errors) ? body.errors : [],
  });
}

/** The problem of a Console that gave no answer. */
export function unreachable(): ApiProblem {
  const { unreachable: title, unreachableHint: detail } = API_TEXTS;
  return new ApiProblem({
    ...{ status: 0, code: 'unreachable', title, detail },
    ...{ requestId: null, errors: [] },
  });
}

/** One sentence or two for a person: what happened, and for a missing role who has it. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof ApiProblem)) return error instanceof Error ? error.message : String(error);
  const roles = missingRoles(error);
  if (roles !== null) return `${error.detail} ${API_TEXTS.rolesThatMay(roles)}`;
  const places = error.errors.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`);
  const said = error.detail === '' ? error.title : error.detail;
  return places.length === 0 ? said : `${said} ${places.join('; ')}`;
}

/** The roles that hold what was missing; null when a role was not the reason. */
export function missingRoles({ code, detail }: ApiProblem): readonly string[] | null {
  if (code !== 'role_required') return null;
  const [, scope = ''] = /scope ([a-z]+:[a-z]+)/.exec(detail) ?? [];
  const roles = ROLES.filter((role) => ROLE_SCOPES[role].includes(scope as Scope));
  return roles.length === 0 ? null : roles;
}
