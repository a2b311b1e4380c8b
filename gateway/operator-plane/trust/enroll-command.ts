// The one line that enrols a node. The secret comes on standard input, never as an argument that `ps` would show.

/** The command to run on the node; it then reads the token from standard input. */
export function enrollCommandOf(baseUrl: string, caFingerprint: string): string {
  return `service-sensor enroll --url ${baseUrl} --ca-fingerprint ${caFingerprint} --token-file -`;
}
