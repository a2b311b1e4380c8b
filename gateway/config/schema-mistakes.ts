// The mistakes of a file that a person wrote, each by the name of its field.

type SchemaError = {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: unknown;
};

/** One line for each; a field that is not known is named once, though a schema finds it as a value too. */
export function mistakesOfFile(errors: readonly SchemaError[]): readonly string[] {
  return errors.filter(({ keyword }) => keyword !== 'boolean').map(describe);
}

function describe({ instancePath, message, params }: SchemaError): string {
  const path = instancePath.slice(1).replaceAll('/', '.');
  const { additionalProperties: unknown, allowedValues: allowed } = params as {
    readonly additionalProperties?: readonly string[];
    readonly allowedValues?: readonly unknown[];
  };
  if (unknown !== undefined) {
    const names = unknown.map((name) => (path === '' ? name : `${path}.${name}`));
    return `${names.join(', ')}: there is no such field`;
  }
  const what = allowed === undefined ? message : `must be one of: ${allowed.join(', ')}`;
  return `${path === '' ? 'the file' : path}: ${what}`;
}
