// The API description: valid OpenAPI 3.1 in what clients rely on, and complete.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, describe, expect, it } from 'vitest';
import { createFixture, type Fixture } from './operator-plane.fixture.ts';

// The page, and the description itself.
const HIDDEN: readonly string[] = ['GET /', 'GET /api/v2/openapi.json'];
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
    // Many answers share a schema; each is compiled once.
    const schemas = new Map<string, object>();

    for (const { operation } of operations) {
      const contents = Object.values(operation.responses).flatMap(
        ({ content = {}, description }) => {
          expect(description).toBeTruthy();
          return Object.values(content);
        },
      );
      const bodies = Object.values(operation.requestBody?.content ?? {});
      for (const { schema } of [...contents, ...bodies, ...(operation.parameters ?? [])]) {
        schemas.set(JSON.stringify(schema), schema);
      }
    }
    for (const schema of schemas.values()) expect(() => ajv.compile(schema)).not.toThrow();
  });

  it('should list every route with its security, and hide the page and itself alone', async () => {
    const { operations } = await description();
    const listed = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    const routes = fixture.app.routeTable.routes
      .filter(({ method }) => method !== 'HEAD')
      .map(({ method, url, guard }) => ({
        name: `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`,
        guard,
      }));
    const hidden = routes.map(({ name }) => name).filter((name) => !listed.includes(name));
    expect(hidden.sort()).toEqual(HIDDEN);
    expect(listed.length).toBe(routes.length - HIDDEN.length);

    for (const { path, method, operation } of operations) {
      const name = `${method.toUpperCase()} ${path}`;
      const guard = routes.find((route) => route.name === name)?.guard ?? {};
      const asked = (operation.security ?? []).flatMap((one) => Object.keys(one as object));
      const takesKeys = 'scope' in guard || 'keys' in guard;
      const expected = takesKeys ? ['apiKey', 'session'] : ['session'];
      expect([name, asked]).toEqual([name, 'public' in guard ? [] : expected]);
      if ('scope' in guard) expect(JSON.stringify(operation)).toContain(guard.scope);
    }
  });
});
