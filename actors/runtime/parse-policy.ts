// From the text of a TracingPolicy to what the one judge says of it, for both programs. decision: D80
import { type PolicyResult, readPolicy } from '../../machines/policy/read-policy.ts';
import { readLocated } from './located-yaml.ts';

/** Reads a policy, or says everything that is wrong with it. Never throws. */
export function parsePolicy(text: string): PolicyResult {
  const read = readLocated(text);
  return read.ok ? readPolicy(read.root) : read;
}
