// The passwords that are tried first: a list of the ones that leaked most often, read when the first password is judged.
// decision: D37
let known: Promise<ReadonlySet<string>> | null = null;

/** The list in lower case. */
export function commonPasswords(): Promise<ReadonlySet<string>> {
  known ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) =>
      new Set(dictionary['passwords-common'].map((one) => String(one).toLowerCase())),
  );
  return known;
}
