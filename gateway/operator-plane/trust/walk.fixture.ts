// A token is made and taken back.
import type { Walk } from '../plumbing/walk.fixture.ts';

export const trust: Walk = async ({ step }) => {
  const token = await step('POST', '/enrollment-tokens', { note: 'rack 7' });
  const tokenId = { id: String(token.body['token_id']) };
  await step('DELETE', '/enrollment-tokens/:id', undefined, tokenId);
};
