// A fingerprint as people compare it.

/** Upper-case pairs with colons. */
export function colonHex(hex: string): string {
  return (hex.toUpperCase().match(/../g) ?? []).join(':');
}
