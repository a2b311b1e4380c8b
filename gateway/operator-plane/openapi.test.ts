// The API description: valid OpenAPI 3.1 in what clients rely on, and complete.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, describe, expect, it } from 'vitest';
import { createFixture, type Fixture } from './operator-plane.fixture.ts';

let fixture: Fixture;
afterEach(() => fixture.close());

type Operation = {
  readonly operationId?: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: object }[];
  readonly requestBody?: { readonly content: Record<string, { schema: object }> };
  readonly responses: Record<
    string,
    { description: string; content?: Record<string, { schema: object }> }
  >;
};

async function description() {
  fixture = await createFixture();
  const answer = await fixture.app.inject({ url: '/api/v2/openapi.json' });
  const document: {
    openapi: string;
    info: object;
    paths: Record<string, Record<string, Operation>>;
  } = answer.json();
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return { document, operations };
}

describe('the API description', () => {
  it('should be OpenAPI 3.1 with unique operations and declared path parameters', async () => {
    const { document, operations } = await description();
    const ids = operations.map(({ operation }) => operation.operationId);

    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info).toMatchObject({ title: expect.any(String), version: '0.1.0' });
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).not.toContain(undefined);
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? []).filter((one) => one.in === 'path');
      expect(declared.map(({ name }) => name)).toEqual(inPath);
      expect(declared.every(({ required }) => required === true)).toBe(true);
      expect(path).not.toContain(':');
    }
  });

  it('should hold only schemas of JSON Schema 2020-12, and a description for every answer', async () => {
    const { operations } = await description();
    const ajv = new Ajv2020({ strict: false, validateFormats: false });

    for (const { operation } of operations) {
      const contents = Object.values(operation.responses).flatMap(
        ({ content = {}, description }) => {
          expect(description).toBeTruthy();
          return Object.values(content);
        },
      );
      const bodies = Object.values(operation.requestBody?.content ?? {});
      for (const { schema } of [...contents, ...bodies, ...(operation.parameters ?? [])]) {
        expect(() => ajv.compile(schema)).not.toThrow();
      }
    }
  });

  it('should list every route with its security', async () => {
    const { operations } = await description();
    const listed = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).sort();
    const isOpen = (path: string) =>
      operations.find((one) => one.path === path)?.operation.security?.length === 0;

    expect(listed).toEqual([
      'DELETE /api/v2/auth/sessions/{id}',
      'DELETE /api/v2/enrollment-tokens/{id}',
      'DELETE /api/v2/users/{id}',
      'DELETE /api/v2/users/{id}/sessions',
      'GET /api/v2/audit',
      'GET /api/v2/audit/checkpoints',
      'GET /api/v2/auth/session',
      'GET /api/v2/auth/sessions',
      'GET /api/v2/enrollment-tokens',
      'GET /api/v2/events',
      'GET /api/v2/license',
      'GET /api/v2/sensors',
      'GET /api/v2/sensors/{id}',
      'GET /api/v2/sensors/{id}/actor',
      'GET /api/v2/sensors/{id}/events',
      'GET /api/v2/sensors/{id}/transitions',
      'GET /api/v2/settings',
      'GET /api/v2/system/actors',
      'GET /api/v2/system/machines',
      'GET /api/v2/users',
      'GET /api/v2/users/{id}',
      'GET /api/v2/users/{id}/sessions',
      'GET /ca.pem',
      'GET /livez',
      'GET /metrics',
      'GET /readyz',
      'GET /version',
      'PATCH /api/v2/settings',
      'PATCH /api/v2/users/{id}',
      'POST /api/v2/auth/login',
      'POST /api/v2/auth/logout',
      'POST /api/v2/auth/password',
      'POST /api/v2/auth/reset',
      'POST /api/v2/auth/sessions/end-others',
      'POST /api/v2/enrollment-tokens',
      'POST /api/v2/license',
      'POST /api/v2/sensors/{id}/reenroll',
      'POST /api/v2/sensors/{id}/revoke',
      'POST /api/v2/users',
      'POST /api/v2/users/{id}/reset-link',
    ]);
    expect(isOpen('/livez')).toBe(true);
    expect(isOpen('/metrics')).toBe(false);
    expect(isOpen('/api/v2/events')).toBe(false);
  });
});
