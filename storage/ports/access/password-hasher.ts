// Passwords as hashes that cost time and memory. Work is bounded: when too much waits, the answer is `busy`, at once.
// decision: D37; invariant: I11
export type PasswordHasher = {
  /** A new hash, with the cost that is asked for today. */
  hash(password: string): Promise<string | 'busy'>;
  /** Whether the password is the one of the hash; costs the same for a wrong one. */
  verify(hash: string, password: string): Promise<boolean | 'busy'>;
  /** Whether a hash was made with less cost than is asked for today. */
  isOutdated(hash: string): boolean;
};
